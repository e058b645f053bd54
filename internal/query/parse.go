package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// MaxBytes is how long a filter may be ("filter-bytes").
	MaxBytes = 4096
	// MaxWords is how many words it may have ("filter-words").
	MaxWords = 64
)

// Error is a syntax error in a filter.
type Error struct {
	Column int // in characters, from 1
	Msg    string
	Hint   string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("column %d: %s", e.Column, e.Msg)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Filter selects instances.
type Filter struct {
	Text  string      // as it was written
	Query store.Query // the part that a store can answer
	Exact bool        // Query is all of it
	words []word
}

// word is one condition.
type word struct {
	key    string // "" is plain text
	values []string
	not    bool
	column int // of the value
	match  func(*store.Instance) bool
}

// Parse reads a filter. Ages count from now.
func Parse(text string, now core.Time) (*Filter, error) {
	if len(text) > MaxBytes {
		return nil, &Error{1, fmt.Sprintf("the filter has more than %d bytes (limit filter-bytes)", MaxBytes), ""}
	}
	if !utf8.ValidString(text) {
		return nil, &Error{1, "the filter is not UTF-8 text", ""}
	}
	p := &parser{text: []rune(text)}
	f := &Filter{Text: text, Exact: true}
	for p.skip() {
		w, err := p.word()
		if err != nil {
			return nil, err
		}
		if len(f.words) == MaxWords {
			return nil, &Error{w.column, fmt.Sprintf("the filter has more than %d words (limit filter-words)", MaxWords), ""}
		}
		if err := f.add(w, now); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Selects reports whether an instance matches.
func (f *Filter) Selects(in *store.Instance) bool {
	for i := range f.words {
		if w := &f.words[i]; w.match(in) == w.not {
			return false
		}
	}
	return true
}

type parser struct {
	text []rune
	at   int
}

// skip goes to the next word, and reports whether there is one.
func (p *parser) skip() bool {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
	return p.at < len(p.text)
}

func (p *parser) errorf(at int, format string, args ...any) *Error {
	return &Error{Column: at + 1, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) word() (word, error) {
	var w word
	begin := p.at
	if p.text[p.at] == '-' {
		w.not = true
		p.at++
	}
	w.key = p.key()
	w.column = p.at + 1
	for {
		value, err := p.value(w.key != "")
		if err != nil {
			return w, err
		}
		w.values = append(w.values, value)
		if w.key == "" || p.at == len(p.text) || p.text[p.at] != ',' {
			break
		}
		p.at++
	}
	for _, v := range w.values {
		if v != "" {
			continue
		}
		if w.key == "" {
			return w, p.errorf(begin, "a minus must be followed by a word")
		}
		return w, p.errorf(w.column-1, "%s: needs a value", w.key)
	}
	return w, nil
}

// key reads what may be the name of a label before a colon; without a colon there is no key.
func (p *parser) key() string {
	end := p.at
	for end < len(p.text) {
		c := p.text[end]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (end == p.at || !strings.ContainsRune("._-", c)) {
			break
		}
		end++
	}
	if end == p.at || end == len(p.text) || p.text[end] != ':' {
		return ""
	}
	key := string(p.text[p.at:end])
	p.at = end + 1
	return key
}

// value reads up to a space or, in a list, a comma; or to the closing quote.
func (p *parser) value(list bool) (string, error) {
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || list && c == ',':
			return b.String(), nil
		case c == '"':
			if err := p.quoted(&b); err != nil {
				return "", err
			}
		default:
			b.WriteRune(c)
			p.at++
		}
	}
	return b.String(), nil
}

func (p *parser) quoted(b *strings.Builder) error {
	begin := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteRune(p.text[p.at])
		default:
			b.WriteRune(c)
		}
	}
	return p.errorf(begin, "the quote is not closed")
}
