package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Miss is what kept an event from an instance that waits for one of its type, or from a definition that starts
// with one. The store keeps it as a sentence among the reasons of the event.
type Miss struct {
	Instance   string // that waits for it; "": Definition starts with it
	Definition string
	Name       string // of the event in the definition
	Differs    string // what differs, in words

	// The attribute whose value is another one, and both values. "": something else differs.
	Attribute, Has, Wants string
}

// String is the sentence that is kept.
func (m Miss) String() string {
	if m.Instance != "" {
		return fmt.Sprintf("instance %q waits for %q: %s", m.Instance, m.Name, m.Differs)
	}
	return fmt.Sprintf("definition %q starts with %q: %s", m.Definition, m.Name, m.Differs)
}

// ReadMiss reads what String wrote. It is no Miss where the event has another reason.
func ReadMiss(why string) (m Miss, ok bool) {
	rest, waits := strings.CutPrefix(why, "instance ")
	owner, verb := &m.Instance, " waits for "
	if !waits {
		if rest, ok = strings.CutPrefix(why, "definition "); !ok {
			return Miss{}, false
		}
		owner, verb = &m.Definition, " starts with "
	}
	if *owner, rest, ok = unquoted(rest); !ok {
		return Miss{}, false
	}
	if rest, ok = strings.CutPrefix(rest, verb); !ok {
		return Miss{}, false
	}
	if m.Name, rest, ok = unquoted(rest); !ok {
		return Miss{}, false
	}
	if m.Differs, ok = strings.CutPrefix(rest, ": "); !ok {
		return Miss{}, false
	}
	m.Attribute, m.Has, m.Wants = readDiffers(m.Differs)
	return m, true
}

// readDiffers reads what [event.Filter.Match] says of an attribute that has another value. The attribute may be
// an expression with spaces and quotes.
func readDiffers(text string) (attribute, has, wants string) {
	const is, not = " is ", ", not "
	for from := 0; ; {
		i := strings.Index(text[from:], is)
		if i < 0 {
			return "", "", ""
		}
		at := from + i
		from = at + 1
		has, rest, ok := unquoted(text[at+len(is):])
		if !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(rest, not); !ok {
			continue
		}
		if wants, rest, ok := unquoted(rest); ok && rest == "" {
			return text[:at], has, wants
		}
	}
}

// unquoted reads a quoted text, and tells what follows it.
func unquoted(text string) (value, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	value, err = strconv.Unquote(quoted)
	return value, text[len(quoted):], err == nil
}
