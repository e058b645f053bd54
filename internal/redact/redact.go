package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
)

// MinText is the length, in bytes, of the shortest text that is looked for. Shorter ones would be
// found in unrelated data.
const MinText = 6

// leaf is a text of a secret.
type leaf struct {
	name string // of the secret
	path string // a pointer into it; empty: the secret itself
	text string
}

// leaves are the texts of secrets, by name.
func leaves(all map[string]expr.Value) []leaf {
	var out []leaf
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = appendLeaves(out, name, "", all[name])
	}
	return out
}

// longestFirst are the texts that are looked for: a longer one before one that it may contain. Of those
// that are the same, the first by name counts.
func longestFirst(all []leaf) []leaf {
	slices.SortStableFunc(all, func(a, b leaf) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	return slices.CompactFunc(all, func(a, b leaf) bool { return a.text == b.text })
}

func appendLeaves(out []leaf, name, path string, v expr.Value) []leaf {
	switch v.Kind() {
	case expr.KindString:
		out = append(out, leaf{name, path, v.Str()})
	case expr.KindArray:
		for i, item := range v.Items() {
			out = appendLeaves(out, name, fmt.Sprintf("%s/%d", path, i), item)
		}
	case expr.KindObject:
		for _, m := range v.Members() {
			out = appendLeaves(out, name, path+"/"+escapeStep.Replace(m.Key), m.Value)
		}
	}
	return out
}

// Redactor finds the values of secrets. It is immutable and safe for concurrent use; nil finds
// nothing.
type Redactor struct {
	mask  *finder           // of what people read; nil: there is nothing to find
	masks []leaf            // what it finds, longest first
	heads *sieve            // of how these begin
	seal  finder            // of what is stored
	texts map[string]string // by reference, to open it
}

// NewRedactor finds the values of secrets by name.
func NewRedactor(all map[string]expr.Value) *Redactor { return newRedactor(all, nil) }

// newRedactor finds also the values that secrets had before: answers to calls that were made with them
// are yet to come.
func newRedactor(all, before map[string]expr.Value) *Redactor {
	r := &Redactor{texts: map[string]string{}}
	var masks []leaf
	var seals []string
	found := leaves(all)
	for _, l := range found { // also what is not looked for: when it was sealed, it may have had another value
		r.texts[l.name+l.path] = l.text
	}
	found = append(found, leaves(before)...)
	found = slices.DeleteFunc(found, func(l leaf) bool { return len(l.text) < MinText })
	for _, l := range longestFirst(found) {
		for _, form := range forms(l.text) {
			masks = append(masks, leaf{name: l.name, text: form})
		}
		ref := begin + l.name + l.path + end
		if _, known := r.texts[l.name+l.path]; !known {
			ref = begin + end + l.name + end // it is gone: opened, this says its name
		}
		seals = append(seals, l.text, ref)
	}
	// Text that looks like a reference becomes one that stands for its beginning.
	r.seal = newFinder(append(seals, begin, begin+end))
	if len(masks) > 0 {
		r.masks = longestFirst(masks)
		var pairs, heads []string
		for _, l := range r.masks {
			pairs = append(pairs, l.text, begin+l.name+end)
			heads = append(heads, l.text[:MinText])
		}
		mask := newFinder(pairs)
		r.mask, r.heads = &mask, newSieve(heads)
	}
	return r
}

// forms are the ways in which a text appears in messages: as it is, in another case, escaped, or encoded.
func forms(text string) []string {
	quoted := string(expr.AppendQuoted(nil, text))
	out := []string{
		text, quoted[1 : len(quoted)-1], url.QueryEscape(text), url.PathEscape(text),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
		base64.URLEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
		hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))),
		strings.ToLower(text), strings.ToUpper(text),
	}
	out = append(out, escapes(text)...)
	out = append(out, within64(text)...)
	// Programs tell errors line by line.
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= MinText {
			out = append(out, line)
		}
	}
	return out
}

// escapes are further ways in which addresses and pages escape a text: what a path of net/url leaves as it is differs from
// what [url.PathEscape] does, and @uri of filters and encodeURIComponent write %20 where a form of a page has a plus.
func escapes(text string) []string {
	component := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	out := []string{
		component, unreserved.Replace(component), (&url.URL{Path: "/" + text}).EscapedPath()[1:], html.EscapeString(text),
	}
	if quoted, err := json.Marshal(text); err == nil { // with < > & escaped, unlike the expressions'
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	return out
}

// unreserved undoes the escaping of what encodeURIComponent leaves as it is.
var unreserved = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// within64 is what base64 makes of a text inside of another, as in "Bearer SECRET": it differs by how many bytes are
// before it, modulo three. Characters that depend on a neighbour are left out.
func within64(text string) (out []string) {
	for before, shared := range []int{0, 2, 3} { // characters that the bytes before it have a part in
		padded := append(make([]byte, before), text...)
		whole := len(padded) * 8 / 6
		if whole-shared < MinText {
			continue
		}
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, encoding.EncodeToString(padded)[shared:whole])
		}
	}
	return out
}

// Text replaces the values of secrets, also escaped, as base64 or hexadecimal, by ‹secret NAME›.
func (r *Redactor) Text(text string) string {
	if r == nil || r.mask == nil {
		return text
	}
	return r.mask.replace(text)
}

// Message is Text for a message, which may show the beginning of a value followed by dots.
func (r *Redactor) Message(text string) string {
	if r == nil || r.mask == nil || !r.heads.holds(text) {
		return text
	}
	for _, l := range r.masks {
		for at := 0; ; {
			i := strings.Index(text[at:], l.text[:MinText])
			if i < 0 {
				break
			}
			at += i
			n := cutOff(text[at:], l.text)
			if n == 0 {
				at++
				continue
			}
			name := begin + l.name + end
			text = text[:at] + name + text[at+n:]
			at += len(name)
		}
	}
	return r.Text(text)
}

// cutOff is how much of a secret a text begins with, if it is cut off there.
func cutOff(text, secret string) int {
	n := 0
	for n < min(len(text), len(secret)) && text[n] == secret[n] {
		n++
	}
	for k := n; k >= max(MinText, n-2); k-- { // the dots may begin as the rest does
		rest := strings.TrimPrefix(strings.TrimPrefix(text[k:], `"`), " ")
		if strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") {
			return k
		}
	}
	return 0
}

// Redact does so with every text of a value, keys included.
func (r *Redactor) Redact(v expr.Value) expr.Value {
	if r == nil || r.mask == nil {
		return v
	}
	out, _ := texts.Map(v, func(text string) (string, error) { return r.mask.replace(text), nil }) // it never fails
	return out
}

// Holds reports whether a value has a secret in it.
func (r *Redactor) Holds(v expr.Value) bool { return !r.Redact(v).Same(v) }

// Failure does so with all that a failure says.
func (r *Redactor) Failure(f effect.Failure) effect.Failure {
	for _, text := range []*string{&f.Name, &f.Code, &f.Title, &f.Type, &f.Detail} {
		*text = r.Text(*text)
	}
	f.Data = r.Redact(f.Data)
	return f
}
