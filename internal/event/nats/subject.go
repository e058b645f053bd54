package nats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
)

// maxSubject bounds a subject ("nats-subject-bytes"): a server disconnects a client that sends a
// line longer than its own limit, 4096 bytes.
const maxSubject = 1024

// template is a subject with attributes of an event in braces.
type template []part

type part struct{ text, attribute string } // one of them is set

// parseTemplate reads a subject such as lockstep.events.{type}. It must begin with a constant
// name, so that the author of a workflow cannot reach subjects such as $JS.
func parseTemplate(text string) (template, error) {
	var out template
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			out = append(out, part{text: rest})
			break
		}
		end := strings.IndexByte(rest, '}')
		if rest[i] == '}' || end < 0 {
			return nil, fmt.Errorf("subject=%q: unbalanced braces", text)
		}
		if i > 0 {
			out = append(out, part{text: rest[:i]})
		}
		name := rest[i+1 : end]
		if name == "" || strings.ContainsAny(name, "{ .") || name == "data" {
			return nil, fmt.Errorf("subject=%q: {%s} is not an attribute of events, such as {type}", text, name)
		}
		out = append(out, part{attribute: name})
		rest = rest[end+1:]
	}
	if !out.hasOwnName() {
		return nil, fmt.Errorf("subject=%q must begin with a constant name, such as lockstep.events.{type}", text)
	}
	var sample strings.Builder
	for _, p := range out {
		sample.WriteString(p.text)
		if p.attribute != "" {
			sample.WriteByte('x')
		}
	}
	if !validSubject(sample.String(), false) {
		return nil, fmt.Errorf("subject=%q is not a subject: names with dots between them, without * and >", text)
	}
	return out, nil
}

// hasOwnName reports whether the first name of the subject is constant, and not one of NATS itself.
func (t template) hasOwnName() bool {
	if len(t) == 0 || t[0].attribute != "" {
		return false
	}
	first := t[0].text
	return (len(t) == 1 || strings.Contains(first, ".")) && !strings.HasPrefix(first, "$") && !strings.HasPrefix(first, "_INBOX")
}

// of is the subject of an event. Dots in an attribute stay, so that com.example.> selects
// com.example.paid; characters that a subject cannot contain become _.
func (t template) of(e event.Event) (string, error) {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		if p.attribute == "" {
			continue
		}
		value, _ := e.Attribute(p.attribute)
		b.WriteString(token(value))
	}
	if b.Len() > maxSubject {
		return "", errSubject
	}
	return b.String(), nil
}

var errSubject = errors.New("its subject would have more than 1024 bytes (limit nats-subject-bytes)")

// token turns a value into a part of a subject: non-empty names separated by dots.
func token(value string) string {
	names := strings.Split(value, ".")
	for i, name := range names {
		name = strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f || r == '*' || r == '>' {
				return '_'
			}
			return r
		}, name)
		if name == "" {
			name = "_"
		}
		names[i] = name
	}
	return strings.Join(names, ".")
}

// validSubject reports whether a subject can be published to or, with wildcards, subscribed to.
func validSubject(subject string, wildcards bool) bool {
	if len(subject) > maxSubject || strings.ContainsFunc(subject, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	names := strings.Split(subject, ".")
	for i, name := range names {
		switch {
		case name == "":
			return false
		case name == "*" && wildcards:
		case name == ">" && wildcards && i == len(names)-1:
		case strings.ContainsAny(name, "*>"):
			return false
		}
	}
	return true
}
