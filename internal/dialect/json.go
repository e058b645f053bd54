package dialect

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// jsonReader reads JSON as RFC 8259 has it. What people often write beyond it
// (comments, trailing commas, bare keys) is reported and then understood, so
// that one pass finds all of it.
type jsonReader struct {
	*reader
	src []byte
	pos int
}

func (r *reader) json(begin int) *Node {
	j := &jsonReader{reader: r, src: r.doc.Source, pos: begin}
	j.blank()
	if j.pos >= len(j.src) && !j.stopped {
		r.fatal(begin, begin, CodeEmpty, "the document is empty")
		return nil
	}
	root := j.value(1)
	if j.stopped {
		return nil
	}
	j.blank()
	if j.pos < len(j.src) && !j.stopped {
		d := j.unexpected("after the end of the document")
		if c := j.src[j.pos]; c == '{' || c == '[' {
			d.Code = CodeDocuments
			d.WithHint("write one definition in each file")
		}
	}
	return root
}

// blank skips white space, and reports what JSON has no place for.
func (j *jsonReader) blank() {
	for j.pos < len(j.src) && !j.stopped {
		rest := j.src[j.pos:]
		switch {
		case isBlank(rest[0]):
			j.pos++
		case bytes.HasPrefix(rest, []byte("//")), rest[0] == '#':
			end := bytes.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			j.comment(end)
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				j.fatal(j.pos, j.pos+2, CodeSyntax, "this comment is not closed").WithHint("JSON has no comments; remove it")
				return
			}
			j.comment(end + 2)
		case bytes.HasPrefix(rest, []byte("...")), bytes.HasPrefix(rest, []byte("…")):
			j.errorf(j.pos, j.pos+3, CodeSyntax, "\"...\" is not JSON").WithHint("write out or remove what it stands for")
			j.pos += 3
		default:
			return
		}
	}
}

func (j *jsonReader) comment(length int) {
	j.errorf(j.pos, j.pos+length, CodeSyntax, "JSON has no comments").WithHint("remove it, or write the definition in YAML")
	j.pos += length
}

// unexpected ends reading at the current character, or at the end of the text.
func (j *jsonReader) unexpected(where string) *Diagnostic {
	if j.pos >= len(j.src) {
		return j.fatal(j.pos, j.pos, CodeSyntax, "the document ends %s", where)
	}
	c, n := utf8.DecodeRune(j.src[j.pos:])
	return j.fatal(j.pos, j.pos+n, CodeSyntax, "unexpected %s %s", quote(string(c)), where)
}

// value reads one value; nil means that reading has stopped.
func (j *jsonReader) value(depth int) *Node {
	reported := len(j.report.found)
	j.blank()
	if !j.admit(j.pos) {
		return nil
	}
	n := &Node{doc: j.doc, start: j.pos}
	if j.pos >= len(j.src) {
		j.unexpected("where a value is expected")
		return nil
	}
	switch c := j.src[j.pos]; {
	case c == '{' || c == '[':
		switch {
		case !j.enter(j.pos, depth):
		case c == '{':
			j.object(n, depth)
		default:
			j.array(n, depth)
		}
	case c == '"' || c == '\'':
		n.Kind, n.style = expr.KindString, styleQuoted
		n.Text = j.quoted()
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		j.numeral(n)
	case wordBegins(j.src[j.pos:]):
		j.word(n)
	case len(j.report.found) > reported && (c == ',' || c == '}' || c == ']'):
		n.style = styleEmpty // "...": what is missing was reported
	default:
		j.unexpected("where a value is expected")
	}
	if j.stopped {
		return nil
	}
	return n
}

func wordBegins(text []byte) bool {
	c, _ := utf8.DecodeRune(text)
	return unicode.IsLetter(c) || c == '_' || c == '$'
}

// bare returns the word at the current place, as far as it goes.
func (j *jsonReader) bare() string {
	end := j.pos
	for end < len(j.src) {
		c, n := utf8.DecodeRune(j.src[end:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$' && c != '-' && c != '.' {
			break
		}
		end += n
	}
	return string(j.src[j.pos:end])
}

func (j *jsonReader) word(n *Node) {
	word := j.bare()
	known := word
	switch word {
	case "True", "TRUE":
		known = "true"
	case "False", "FALSE":
		known = "false"
	case "Null", "NULL", "None", "nil", "undefined":
		known = "null"
	}
	switch known {
	case "true", "false":
		n.Kind, n.Text = expr.KindBool, known
	case "null":
	case "NaN", "Infinity":
		n.Kind, n.Text = expr.KindNumber, "0"
		j.errorf(j.pos, j.pos+len(word), CodeNumber, "%s is not a JSON number", word)
	default:
		n.Kind, n.Text = expr.KindString, word
		j.errorf(j.pos, j.pos+len(word), CodeSyntax, "text must be in double quotes").WithHint("write %s", quote(word))
	}
	if known != word {
		j.errorf(j.pos, j.pos+len(word), CodeSyntax, "%q is not JSON", word).WithHint("did you mean %s?", known)
	}
	j.pos += len(word)
}

// numeral reads a number. Spellings that JSON does not know are reported and
// read as 0, so that nothing else is said about them.
func (j *jsonReader) numeral(n *Node) {
	end := j.pos
	for end < len(j.src) && (isAlphanumeric(j.src[end]) || bytes.IndexByte([]byte("+-._"), j.src[end]) >= 0) {
		end++
	}
	text := string(j.src[j.pos:end])
	if _, err := expr.Number(text); err != nil {
		d := j.errorf(j.pos, end, CodeSyntax, "%s is not a JSON number", quote(text))
		switch fixed, ok := coreNumber(text, j.limits.Digits); {
		case ok && fixed != "":
			d.WithHint("write %s", fixed)
		case !ok && text[0] != '+' && text[0] != '.':
			d.WithHint("put text in double quotes")
		}
		text = "0"
	}
	j.number(n, text)
	j.pos = end
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (j *jsonReader) array(n *Node, depth int) {
	n.Kind, n.style = expr.KindArray, styleFlow
	j.pos++
	for comma := -1; ; {
		reported := len(j.report.found)
		j.blank()
		if j.closed(n, ']', comma, reported) {
			return
		}
		item := j.value(depth + 1)
		if j.stopped {
			return
		}
		n.Items = append(n.Items, item)
		if comma = j.separator(n, ']'); j.stopped {
			return
		}
	}
}

func (j *jsonReader) object(n *Node, depth int) {
	n.Kind, n.style = expr.KindObject, styleFlow
	j.pos++
	var m members
	for comma := -1; ; {
		reported := len(j.report.found)
		j.blank()
		if j.closed(n, '}', comma, reported) {
			m.into(n)
			return
		}
		key := j.key()
		if j.stopped {
			return
		}
		j.colon(key)
		if j.stopped {
			return
		}
		v := j.value(depth + 1)
		if j.stopped {
			return
		}
		v.Key = key
		j.member(&m, v)
		if comma = j.separator(n, '}'); j.stopped {
			return
		}
	}
}

// closed reports whether a container ends here or reading has stopped. comma is
// where the last comma stands, -1 without one.
func (j *jsonReader) closed(n *Node, bracket byte, comma, reported int) bool {
	switch {
	case j.stopped:
		return true
	case j.pos >= len(j.src):
		j.unclosed(n)
		return true
	case j.src[j.pos] != bracket:
		return false
	}
	// "..." between the comma and the bracket was reported already.
	if comma >= 0 && len(j.report.found) == reported {
		j.errorf(comma, comma+1, CodeSyntax, "a comma before the closing %q", string(bracket)).WithHint("remove the comma")
	}
	j.pos++
	return true
}

func (j *jsonReader) unclosed(n *Node) {
	j.fatal(j.pos, j.pos, CodeSyntax, "the document ends before the %q of %s is closed", string(j.src[n.start]), j.at(n.start))
}

// separator reads what stands between two members or items and returns where
// the comma is, -1 for none.
func (j *jsonReader) separator(n *Node, bracket byte) int {
	end := j.pos
	j.blank()
	if j.stopped {
		return -1
	}
	if j.pos >= len(j.src) {
		j.unclosed(n)
		return -1
	}
	switch c := j.src[j.pos]; {
	case c == ',':
		j.pos++
		return j.pos - 1
	case c == bracket:
		return -1
	case j.valueBegins():
		j.errorf(end, end+1, CodeSyntax, "a comma is missing").WithHint("write a comma between the parts of an array or object")
		return -1
	case c == ']' || c == '}':
		j.fatal(j.pos, j.pos+1, CodeSyntax, "%q does not match the %q of %s", string(c), string(j.src[n.start]), j.at(n.start))
		return -1
	}
	j.unexpected("after a value").WithHint("expected \",\" or %q", string(bracket))
	return -1
}

// key reads an object's key.
func (j *jsonReader) key() *Node {
	key := &Node{Kind: expr.KindString, doc: j.doc, start: j.pos, style: styleQuoted}
	switch c := j.src[j.pos]; {
	case c == '"' || c == '\'':
		key.Text = j.quoted()
	case wordBegins(j.src[j.pos:]) || isAlphanumeric(c):
		key.style, key.Text = stylePlain, j.bare()
		j.errorf(j.pos, j.pos+len(key.Text), CodeSyntax, "key %s must be in double quotes", quote(key.Text)).
			WithHint("a document that begins with a brace or bracket is read as JSON")
		j.pos += len(key.Text)
	default:
		j.unexpected("where a key is expected")
	}
	return key
}

func (j *jsonReader) colon(key *Node) {
	end := j.pos
	j.blank()
	switch {
	case j.stopped:
	case j.pos < len(j.src) && j.src[j.pos] == ':':
		j.pos++
	case j.pos < len(j.src) && j.valueBegins():
		j.errorf(end, end+1, CodeSyntax, "a \":\" is missing after key %s", quote(key.Text))
	default:
		j.unexpected("after key " + quote(key.Text)).WithHint("expected \":\"")
	}
}

// valueBegins reports whether a value or key seems to begin here.
func (j *jsonReader) valueBegins() bool {
	switch c := j.src[j.pos]; c {
	case '"', '\'', '{', '[', '-':
		return true
	default:
		return isAlphanumeric(c) || wordBegins(j.src[j.pos:])
	}
}
