package dialect

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Read reads a document under the default limits.
//
// It is read as JSON when it begins with a bracket or brace, or when the file's
// name says so, and as YAML 1.2 otherwise. The document is never nil; see
// [Document.Root] for what it holds in spite of errors.
func Read(file string, src []byte) (*Document, Diagnostics) {
	return DefaultLimits.Read(file, src)
}

// Read reads a document under these limits.
func (l Limits) Read(file string, src []byte) (*Document, Diagnostics) {
	doc := &Document{File: file, Format: formatOf(file, src), Source: src, Digest: sha256.Sum256(src)}
	r := &reader{doc: doc, limits: l, report: Reporter{File: file}}
	if root := r.read(); !r.stopped {
		doc.Root = root
	}
	return doc, r.report.Diagnostics()
}

var bom = []byte("\ufeff")

func formatOf(file string, src []byte) Format {
	text := bytes.TrimLeft(bytes.TrimPrefix(src, bom), " \t\r\n")
	for _, begin := range []string{"{", "[", "//", "/*"} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return JSON
		}
	}
	if strings.HasSuffix(strings.ToLower(file), ".json") {
		return JSON
	}
	return YAML
}

// reader is what reading JSON and reading YAML have in common.
type reader struct {
	doc     *Document
	limits  Limits
	report  Reporter
	nodes   int
	errors  int
	stopped bool // nothing further can be read
}

func (r *reader) read() *Node {
	src := r.doc.Source
	if len(src) > r.limits.Bytes {
		r.report.Errorf(Pos{r.doc.File, 1, 1}, CodeLimit, "the document has more than %d bytes (limit document-bytes)", r.limits.Bytes)
		r.stopped = true
		return nil
	}
	begin := len(src) - len(bytes.TrimPrefix(src, bom))
	r.doc.lines = newLineIndex(src, begin)
	if !r.encoded(begin) {
		return nil
	}
	if r.doc.Format == JSON {
		return r.json(begin)
	}
	return r.yaml(begin)
}

// encoded checks that the text is UTF-8 without control characters, which
// neither format allows as they are.
func (r *reader) encoded(begin int) bool {
	src := r.doc.Source
	for i := begin; i < len(src); {
		c, n := utf8.DecodeRune(src[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			d := r.fatal(i, i+1, CodeEncoding, "byte 0x%02x is not UTF-8 text", src[i])
			d.WithHint("save the file as UTF-8")
			return false
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0xFFFE || c == 0xFFFF:
			d := r.fatal(i, i+n, CodeEncoding, "control character U+%04X in the document", c)
			d.WithHint("write it as an escape in double quotes: \"\\u%04x\"", c)
			if i <= 3 && c == 0 {
				d.WithHint("save the file as UTF-8")
			}
			return false
		}
		i += n
	}
	return true
}

// errorf reports an error for source[from:to].
func (r *reader) errorf(from, to int, code, format string, args ...any) *Diagnostic {
	d := r.report.Errorf(r.doc.span(from, to), code, format, args...)
	if r.errors++; r.errors >= maxSyntaxErrors {
		r.stopped = true
	}
	return d
}

// warnf reports a warning for source[from:to]; those beyond the first few say
// nothing new and are dropped.
func (r *reader) warnf(from, to int, code, format string, args ...any) *Diagnostic {
	if len(r.report.found)-r.errors >= maxSyntaxErrors {
		return &Diagnostic{}
	}
	return r.report.Warnf(r.doc.span(from, to), code, format, args...)
}

// fatal reports the error that ends reading.
func (r *reader) fatal(from, to int, code, format string, args ...any) *Diagnostic {
	r.stopped = true
	return r.errorf(from, to, code, format, args...)
}

// admit counts one more value against the limits and reports whether reading may go on.
func (r *reader) admit(at int) bool {
	if r.stopped {
		return false
	}
	if r.nodes++; r.nodes > r.limits.Nodes {
		r.tooMany(at)
		return false
	}
	return true
}

// enter reports whether a container at that depth may be read; the root has depth 1.
func (r *reader) enter(at, depth int) bool {
	if depth > r.limits.Depth {
		r.tooDeep(at)
		return false
	}
	return true
}

func (r *reader) tooDeep(at int) {
	r.fatal(at, at+1, CodeLimit, "values nest deeper than %d levels (limit document-depth)", r.limits.Depth)
}

func (r *reader) tooMany(at int) {
	d := r.fatal(at, at+1, CodeLimit, "the document holds more than %d values (limit document-nodes)", r.limits.Nodes)
	if r.doc.Format == YAML {
		d.WithHint("what aliases stand for counts each time")
	}
}

// number makes a number of text in JSON's grammar.
func (r *reader) number(n *Node, text string) {
	n.Kind, n.Text = expr.KindNumber, text
	if len(text) > r.limits.Digits {
		r.fatal(n.start, n.start+1, CodeLimit, "a number has %d characters, more than %d (limit document-digits)",
			len(text), r.limits.Digits)
	}
}

// members builds an object's members and refuses keys that repeat.
type members struct {
	list   []*Node
	byName map[string]*Node
}

// manyMembers is from how many members on a map is worth its memory.
const manyMembers = 12

func (m *members) get(key string) *Node {
	if m.byName != nil {
		return m.byName[key]
	}
	for _, n := range m.list {
		if n.Key.Text == key {
			return n
		}
	}
	return nil
}

func (m *members) add(n *Node) {
	m.list = append(m.list, n)
	switch {
	case m.byName != nil:
		m.byName[n.Key.Text] = n
	case len(m.list) == manyMembers:
		m.byName = make(map[string]*Node, 2*manyMembers)
		for _, n := range m.list {
			m.byName[n.Key.Text] = n
		}
	}
}

func (m *members) into(n *Node) { n.Members, n.byName = m.list, m.byName }

// member adds a member unless its key is there already.
func (r *reader) member(m *members, n *Node) {
	if first := m.get(n.Key.Text); first != nil {
		at := first.Key.Pos()
		r.errorf(n.Key.start, n.Key.end(), CodeDuplicateKey, "key %s repeats the one at line %d, column %d",
			quote(n.Key.Text), at.Line, at.Column)
		return
	}
	m.add(n)
}

// quote quotes a piece of the document for a message and keeps it short.
func quote(text string) string {
	const longest = 40
	if utf8.RuneCountInString(text) > longest {
		return strconv.Quote(string([]rune(text)[:longest]) + "…")
	}
	return strconv.Quote(text)
}

// at returns a place for use inside a message.
func (r *reader) at(offset int) string {
	p := r.doc.pos(offset)
	return fmt.Sprintf("line %d, column %d", p.Line, p.Column)
}
