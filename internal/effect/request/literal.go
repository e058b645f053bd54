package request

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// isName reports whether text is a name of GraphQL.
func isName(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// writeLiteral writes a value as a literal of GraphQL. Texts of JSON are texts of GraphQL, and so are numbers.
func writeLiteral(out *strings.Builder, v expr.Value) error {
	switch {
	case v.IsObject():
		out.WriteByte('{')
		if err := writeFields(out, v); err != nil {
			return err
		}
		out.WriteByte('}')
	case v.IsArray():
		out.WriteByte('[')
		for i, item := range v.Items() {
			if i > 0 {
				out.WriteString(", ")
			}
			if err := writeLiteral(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	default:
		out.WriteString(v.String())
	}
	return nil
}

// writeFields writes the members of an object, as arguments or as fields of one.
func writeFields(out *strings.Builder, object expr.Value) error {
	for i, m := range object.Members() {
		if !isName(m.Key) {
			return fmt.Errorf("%q cannot be the name of an argument of GraphQL", m.Key)
		}
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(m.Key + ": ")
		if err := writeLiteral(out, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// checkSelection reports a text that is more or less than one selection set: data in it must not end the field that is
// asked for and begin another one.
func checkSelection(text string) error {
	closers := []byte{}
	rest := strings.TrimLeft(text, " \t\r\n,")
	if !strings.HasPrefix(rest, "{") {
		return errors.New("selectionSet must be in braces")
	}
	for rest != "" {
		n, err := token(rest)
		if err != nil {
			return err
		}
		switch c := rest[0]; c {
		case '{':
			closers = append(closers, '}')
		case '(':
			closers = append(closers, ')')
		case '[':
			closers = append(closers, ']')
		case '}', ')', ']':
			if closers[len(closers)-1] != c {
				return fmt.Errorf("selectionSet has a %q where a %q must be", c, closers[len(closers)-1])
			}
			closers = closers[:len(closers)-1]
		}
		if rest = rest[n:]; len(closers) == 0 {
			break
		}
	}
	switch {
	case len(closers) > 0:
		return fmt.Errorf("selectionSet has no %q at its end", closers[len(closers)-1])
	case strings.TrimSpace(rest) != "":
		return errors.New("selectionSet ends before the end of its text")
	}
	return nil
}

// token is the length of what a text begins with: a text in quotes, a comment, or a byte of anything else.
func token(text string) (int, error) {
	switch {
	case strings.HasPrefix(text, `"""`):
		for at := 3; at < len(text); at++ {
			switch {
			case strings.HasPrefix(text[at:], `\"""`):
				at += 3
			case strings.HasPrefix(text[at:], `"""`):
				return at + 3, nil
			}
		}
	case text[0] == '"':
		for at := 1; at < len(text) && text[at] != '\n' && text[at] != '\r'; at++ {
			switch text[at] {
			case '\\':
				at++
			case '"':
				return at + 1, nil
			}
		}
	case text[0] == '#':
		if end := strings.IndexAny(text, "\r\n"); end >= 0 {
			return end, nil
		}
		return len(text), nil
	default:
		return 1, nil
	}
	return 0, errors.New("selectionSet has a text without an end")
}
