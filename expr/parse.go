package expr

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep values may nest. Deeper ones are refused while they are
// read, before anything recurses into them.
const MaxDepth = 512

// ParseError is a place in JSON text that cannot be read.
type ParseError struct {
	Offset int
	Msg    string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Msg)
}

// RepeatedKeyError is a key that an object has twice.
type RepeatedKeyError struct {
	Path []string // keys and indexes down to it, itself the last
}

func (e *RepeatedKeyError) Error() string {
	return fmt.Sprintf("the key %.100q is given twice", e.Path[len(e.Path)-1])
}

// within puts a step before the path of a repeated key; other errors stay as they are.
func within(step string, err error) error {
	if repeated, ok := err.(*RepeatedKeyError); ok {
		repeated.Path = append([]string{step}, repeated.Path...)
	}
	return err
}

// ParseJSON reads one JSON value. Half of a surrogate pair is not a character, and is
// refused. Where an object repeats a key the last one wins, as in every common reader
// of data; definitions are read more strictly by package dialect.
func ParseJSON(text []byte) (Value, error) { return (&parser{text: text}).all() }

// ParseUnique is [ParseJSON] for text in which no object may repeat a key: others would
// read another value. Such a text is a *[RepeatedKeyError].
func ParseUnique(text []byte) (Value, error) { return (&parser{text: text, unique: true}).all() }

// ParseRepaired is [ParseJSON] as most programs read JSON: half of a surrogate pair
// becomes U+FFFD.
func ParseRepaired(text []byte) (Value, error) { return (&parser{text: text, repair: true}).all() }

type parser struct {
	text   []byte
	pos    int
	unique bool // no key twice
	repair bool // half of a surrogate pair is U+FFFD
}

func (p *parser) all() (Value, error) {
	v, err := p.value(0)
	if err != nil {
		return Null, err
	}
	p.blank()
	if p.pos < len(p.text) {
		return Null, p.errorf("unexpected %q after the value", p.char())
	}
	return v, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return &ParseError{p.pos, fmt.Sprintf(format, args...)}
}

// char returns the character at the current place.
func (p *parser) char() rune {
	r, _ := utf8.DecodeRune(p.text[p.pos:])
	return r
}

func (p *parser) blank() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > MaxDepth {
		return Null, p.errorf("nested deeper than %d levels (limit value-depth)", MaxDepth)
	}
	p.blank()
	if p.pos >= len(p.text) {
		return Null, p.errorf("the text ends where a value is expected")
	}
	switch c := p.text[p.pos]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.quoted()
		return String(s), err
	case c == '-' || c >= '0' && c <= '9':
		n := scanNumber(p.text[p.pos:])
		if n == 0 {
			return Null, p.errorf("malformed number")
		}
		text := string(p.text[p.pos : p.pos+n])
		p.pos += n
		return numberOf(text), nil
	}
	for _, w := range []struct {
		word string
		val  Value
	}{{"true", Bool(true)}, {"false", Bool(false)}, {"null", Null}} {
		if bytes.HasPrefix(p.text[p.pos:], []byte(w.word)) {
			p.pos += len(w.word)
			return w.val, nil
		}
	}
	return Null, p.errorf("unexpected %q", p.char())
}

func (p *parser) array(depth int) (Value, error) {
	p.pos++
	var items []Value
	p.blank()
	if p.accept(']') {
		return Array(), nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return Null, within(strconv.Itoa(len(items)), err)
		}
		items = append(items, v)
		p.blank()
		switch {
		case p.accept(','):
		case p.accept(']'):
			return Array(items...), nil
		default:
			return Null, p.errorf("expected ',' or ']' in an array")
		}
	}
}

func (p *parser) object(depth int) (Value, error) {
	p.pos++
	var members []Member
	p.blank()
	if p.accept('}') {
		return EmptyObject, nil
	}
	for {
		p.blank()
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return Null, p.errorf("expected a quoted key")
		}
		key, err := p.quoted()
		if err != nil {
			return Null, err
		}
		p.blank()
		if !p.accept(':') {
			return Null, p.errorf("expected ':' after key %q", key)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return Null, within(key, err)
		}
		members = append(members, Member{key, v})
		p.blank()
		switch {
		case p.accept(','):
		case p.accept('}'):
			if p.unique {
				if key, ok := repeated(members); ok {
					return Null, &RepeatedKeyError{[]string{key}}
				}
			}
			return Object(members...), nil
		default:
			return Null, p.errorf("expected ',' or '}' in an object")
		}
	}
}

// repeated is the first key that comes twice.
func repeated(members []Member) (string, bool) {
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if seen[m.Key] {
			return m.Key, true
		}
		seen[m.Key] = true
	}
	return "", false
}

func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) quoted() (string, error) {
	start := p.pos + 1
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			raw := p.text[start:i]
			if !utf8.Valid(raw) {
				p.pos = start
				return "", p.errorf("the text is not valid UTF-8")
			}
			p.pos = i + 1
			return string(raw), nil
		case c == '\\':
			return p.escaped(start, i)
		case c < 0x20:
			p.pos = i
			return "", p.errorf("control character %#02x in a string; write it as an escape", c)
		}
	}
	return "", p.errorf("the string has no closing quote")
}

// escaped reads on from the first backslash at i.
func (p *parser) escaped(start, i int) (string, error) {
	open := p.pos
	out := append([]byte(nil), p.text[start:i]...)
	for i < len(p.text) {
		c := p.text[i]
		switch {
		case c == '"':
			if !utf8.Valid(out) {
				return "", p.errorf("the text is not valid UTF-8")
			}
			p.pos = i + 1
			return string(out), nil
		case c < 0x20:
			p.pos = i
			return "", p.errorf("control character %#02x in a string; write it as an escape", c)
		case c != '\\':
			out = append(out, c)
			i++
		default:
			p.pos = i
			var err error
			if out, i, err = p.escape(out, i+1); err != nil {
				return "", err
			}
		}
	}
	p.pos = open
	return "", p.errorf("the string has no closing quote")
}

func (p *parser) escape(out []byte, i int) ([]byte, int, error) {
	if i >= len(p.text) {
		return nil, 0, p.errorf("the text ends inside an escape")
	}
	switch c := p.text[i]; c {
	case '"', '\\', '/':
		return append(out, c), i + 1, nil
	case 'b':
		return append(out, '\b'), i + 1, nil
	case 'f':
		return append(out, '\f'), i + 1, nil
	case 'n':
		return append(out, '\n'), i + 1, nil
	case 'r':
		return append(out, '\r'), i + 1, nil
	case 't':
		return append(out, '\t'), i + 1, nil
	case 'u':
		r, ok := p.hex(i + 1)
		if !ok {
			return nil, 0, p.errorf(`malformed \u escape`)
		}
		i += 5
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if i+1 < len(p.text) && p.text[i] == '\\' && p.text[i+1] == 'u' {
				low, ok = p.hex(i + 2)
			}
			if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
				if !p.repair {
					return nil, 0, p.errorf(`half of a surrogate pair, which is not a character`)
				}
				return append(out, "\ufffd"...), i, nil
			}
			i += 6
		}
		return utf8.AppendRune(out, r), i, nil
	default:
		p.pos = i
		return nil, 0, p.errorf(`unknown escape \%c`, p.char())
	}
}

func (p *parser) hex(i int) (rune, bool) {
	if i+4 > len(p.text) {
		return 0, false
	}
	u, err := strconv.ParseUint(string(p.text[i:i+4]), 16, 16)
	return rune(u), err == nil
}
