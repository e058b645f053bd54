package nats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
)

// maxSubject bounds a subject ("nats-subject-bytes"): a server cuts the connection of who
// sends a line beyond its own limit, 4096 bytes.
const maxSubject = 1024

// template is a subject with attributes of an event in braces.
type template []part

type part struct{ text, attribute string } // one of them

// parseTemplate reads a subject such as lockstep.events.{type}. It begins with a name
// that is not from the event: who writes a workflow must not reach subjects such as $JS.
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
			return nil, fmt.Errorf("subject=%q: a brace is not closed, or not open", text)
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
	if len(out) == 0 || out[0].attribute != "" || !strings.Contains(out[0].text, ".") && len(out) > 1 || strings.HasPrefix(out[0].text, "$") || strings.HasPrefix(out[0].text, "_INBOX") {
		return nil, fmt.Errorf("subject=%q must begin with a name of its own, such as lockstep.events.{type}", text)
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

// of is the subject of an event. Dots of an attribute stay, so that com.example.paid can
// be asked for by com.example.>; what a subject cannot hold becomes _.
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

// token makes a value a part of a subject: names that are not empty, with dots between.
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

// validSubject reports whether a subject can be published to, or with wildcards asked for.
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
