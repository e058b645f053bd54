package dialect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Reader reads the objects of a document strictly. It checks the kind of every value, and
// reports keys that are missing, misspelled or unknown. Front-ends, catalogues, scenarios,
// settings and tokens are all read with it, so the same mistake has the same message
// everywhere. A front-end's parser embeds one:
//
//	f := p.Fields(n, "a state")
//	s := &state{name: f.Name("name"), next: f.OptionalName("nextState")}
//	f.Called(s.name)
//	s.end, _ = f.Flag("end", false)
//	f.Done()
//
// Reading never stops at a mistake. A getter reports what is wrong and returns nil (or the
// zero value), and everything accepts a nil *Fields, so that one pass finds all mistakes.
type Reader struct {
	*Reporter
	Hinter
	Codes FieldCodes

	// Strict makes unknown keys errors and null a value like any other. Otherwise unknown
	// keys are warnings, and null counts as absent: in YAML a key without a value is one
	// that was left for later.
	Strict bool

	// Closed makes unknown keys errors, and leaves null as it is.
	Closed bool

	// Blanks allows names that consist of blanks only.
	Blanks bool

	// Ways lists how a key may be spelled, the preferred spelling first. If nil, a key has
	// one spelling.
	Ways func(key string) []string

	// Visit is called for each object that was read to its end. With [Fields.Keys] it shows
	// which keys the reader knows: tests compare them with the published JSON Schema.
	Visit func(*Fields)
}

// FieldCodes are the codes of the diagnostics of a Reader.
type FieldCodes struct {
	Type     string // a value of another kind
	Missing  string // a required key that is absent
	Empty    string // a name or list that is empty
	Choice   string // a word that is not one of those allowed
	Number   string // not a whole number, or out of range
	Unknown  string // a key that was not asked for
	Both     string // two keys that exclude each other
	Twice    string // one key in two spellings
	Unquoted string // a number where a string is expected, taken as it is written
}

// Is reports a value that is not of the kind.
func (r *Reader) Is(n *Node, kind expr.Kind, what string) bool {
	if n.Kind == kind {
		return true
	}
	d := r.Expected(n, what, kind.WithArticle())
	if kind == expr.KindString && (n.Kind == expr.KindNumber || n.Kind == expr.KindBool) {
		d.WithHint("put it in quotes: %q", n.Raw())
	}
	return false
}

// Expected reports a value of the wrong kind; want is a noun with its article.
func (r *Reader) Expected(n *Node, what, want string) *Diagnostic {
	return r.Errorf(n, r.Codes.Type, "%s", wrongKind(what, want, n.Kind))
}

// NonEmpty returns n, or nil after reporting that its text is empty.
func (r *Reader) NonEmpty(n *Node, what string) *Node {
	if n.Text != "" && (r.Blanks || strings.TrimSpace(n.Text) != "") {
		return n
	}
	r.Errorf(n, r.Codes.Empty, "%s", emptyValue(what))
	return nil
}

// Named returns a string that is not empty, or nil after reporting what else n is.
func (r *Reader) Named(n *Node, what string) *Node {
	if n == nil || !r.Is(n, expr.KindString, what) {
		return nil
	}
	return r.NonEmpty(n, what)
}

// Whole returns a whole number within bounds, or 0 and what was reported. Unless the reader
// is strict, a string of digits is a number too.
func (r *Reader) Whole(n *Node, what string, least, most int64) (value int64, wrong *Diagnostic) {
	ok := false
	switch {
	case n.Is(expr.KindNumber):
		value, ok = n.Int()
	case n.Is(expr.KindString) && !r.Strict:
		parsed, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64)
		value, ok = parsed, err == nil
	default:
		return 0, r.Expected(n, what, "a whole number")
	}
	if ok && value >= least && value <= most {
		return value, nil
	}
	bounds := fmt.Sprintf("from %d to %d", least, most)
	switch {
	case most >= math.MaxInt32:
		bounds = fmt.Sprintf("from %d", least)
	case least <= math.MinInt32:
		bounds = fmt.Sprintf("of at most %d", most)
	}
	return 0, r.Errorf(n, r.Codes.Number, "%s must be a whole number %s, not %s", what, bounds, n.Quoted())
}

// OneOf returns the word that n is. fold ignores the case of letters.
func (r *Reader) OneOf(n *Node, what string, fold bool, among ...string) string {
	if n == nil || !r.Is(n, expr.KindString, what) {
		return ""
	}
	for _, word := range among {
		if n.Text == word || fold && strings.EqualFold(n.Text, word) {
			return word
		}
	}
	r.MeantOneOf(r.Errorf(n, r.Codes.Choice, "%s cannot be %q", what, n.Text), n.Text, among)
	return ""
}

func (r *Reader) ways(key string) []string {
	if r.Ways == nil {
		return []string{key}
	}
	return r.Ways(key)
}

// The messages that Fields and [Members] share.

func wrongKind(what, want string, got expr.Kind) string {
	return fmt.Sprintf("%s must be %s, not %s", what, want, got.WithArticle())
}

func missingKey(what, key string) string { return fmt.Sprintf("%s needs %q", what, key) }

func emptyValue(what string) string { return what + " must not be empty" }

func unknownKey(key, what string) string { return fmt.Sprintf("unknown key %q in %s", key, what) }

// maxListed is how many letters of known keys a hint lists.
const maxListed = 120

// listKeys is a hint with the keys there are, if they are not too many.
func listKeys(keys []string) string {
	list := strings.Join(keys, ", ")
	if list == "" || len(list) > maxListed {
		return ""
	}
	return "the keys are " + list
}
