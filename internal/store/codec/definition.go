package codec

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// EditionOf is the edition of the core's semantics that a program was compiled for.
func EditionOf(program []byte) int64 {
	var p struct {
		Edition int64 `json:"edition"`
	}
	if json.Unmarshal(program, &p) != nil {
		return 0
	}
	return p.Edition
}

// A definition is stored as text, its info: the JSON of what has no column. Its last member has two
// checksums, each as 8 hexadecimal digits: of the text before it and the program, and of that and the
// source. Where it is missing, the row was stored before there were checksums.
const (
	sumsLead = `,"Sums":"`
	sumsEnd  = `"}`
	sumsSize = len(sumsLead) + 16 + len(sumsEnd)
)

// AliasInfo is the info of the row of an alias, which has a source and no program.
func AliasInfo(d store.Definition) (string, error) { return info(kindAlias, d, nil) }

// ContentInfo is the info of the row of a content.
func ContentInfo(d store.Definition) (string, error) { return info(kindContent, d, d.Program) }

func info(kind byte, d store.Definition, program []byte) (string, error) {
	source := d.Source
	d.Program, d.Source, d.Current = nil, nil, false
	b, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	text := string(b[:len(b)-1]) // without the brace
	return text + sumsLead + digits(kind, text, program, source) + sumsEnd, nil
}

// digits are both checksums.
func digits(kind byte, text string, program, source []byte) string {
	first := infoSum(kind, text, program)
	o := owner{kind: kind, numbers: [4]int64{int64(first)}}
	if source != nil {
		o.numbers[1] = 1
	}
	return fmt.Sprintf("%08x%08x", first, o.sum(source))
}

func infoSum(kind byte, text string, program []byte) uint32 {
	o := owner{kind: kind, texts: [6]string{text}}
	return o.sum(program)
}

// sums takes the checksums off an info; false: it has none.
func sums(info string) (text, digits string, ok bool) {
	at := len(info) - sumsSize
	if at < 0 || !strings.HasPrefix(info[at:], sumsLead) {
		return "", "", false
	}
	return info[:at], info[at+len(sumsLead) : len(info)-len(sumsEnd)], true
}

// Alias and Content are rows of a definition.
type (
	Alias struct {
		ID, Version, Digest string
		Info                string
		Source              []byte
	}
	Content struct {
		Digest  string
		Info    string
		Program []byte
	}
)

// DecodeAlias is a definition without its program.
func DecodeAlias(a Alias) (d store.Definition, err error) {
	if err = decodeInfo(kindAlias, a.Info, nil, a.Source, &d); err == nil && (d.ID != a.ID || d.Version != a.Version || d.Digest != a.Digest) {
		err = errMalformed
	}
	if err != nil {
		return d, fmt.Errorf("definition %s version %q is %w: %w", a.ID, a.Version, store.ErrDamaged, err)
	}
	d.Source = a.Source
	return d, nil
}

// CheckProgram says whether the program of a content is what was stored.
func CheckProgram(c Content) error {
	var of struct{ Digest string }
	err := json.Unmarshal([]byte(c.Info), &of)
	text, sum, ok := sums(c.Info)
	switch {
	case ok && fmt.Sprintf("%08x", infoSum(kindContent, text, c.Program)) != sum[:8]:
		err = errSum
	case err != nil || of.Digest != c.Digest:
		err = errMalformed
	}
	if err != nil {
		return fmt.Errorf("the program with digest %s is %w: %w", c.Digest, store.ErrDamaged, err)
	}
	return nil
}

// DecodeContent is the definition that a content was stored with first.
func DecodeContent(c Content, source []byte) (d store.Definition, err error) {
	if err = decodeInfo(kindContent, c.Info, c.Program, source, &d); err == nil && d.Digest != c.Digest {
		err = errMalformed
	}
	if err != nil {
		return d, fmt.Errorf("the definition with digest %s is %w: %w", c.Digest, store.ErrDamaged, err)
	}
	d.Source = source
	if len(c.Program) > 0 {
		d.Program = c.Program
	}
	return d, nil
}

func decodeInfo(kind byte, info string, program, source []byte, d *store.Definition) error {
	if text, sum, ok := sums(info); ok && digits(kind, text, program, source) != sum {
		return errSum
	}
	if err := json.Unmarshal([]byte(info), d); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}
