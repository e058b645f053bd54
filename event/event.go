package event

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// SpecVersion is the version of CloudEvents that this package speaks.
const SpecVersion = "1.0"

// Event is one CloudEvent.
type Event struct {
	ID, Source, Type string // required, never empty

	Subject         string
	Time            string // RFC 3339, as it was written
	DataContentType string
	DataSchema      string
	Extensions      []expr.Member // sorted by name; values are strings, numbers or booleans

	Data       expr.Value
	HasData    bool   // tells data: null from none
	DataBase64 string // instead of Data: bytes, kept as they were written
}

// AttributeError names the attribute that makes an event unacceptable.
type AttributeError struct {
	Attribute string // "" where the event as a whole is wrong
	Msg       string
}

func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return "event: " + e.Msg
	}
	return fmt.Sprintf("event attribute %q: %s", e.Attribute, e.Msg)
}

// FromValue reads an event from the object of its JSON format, as people write it in
// files of their own: a missing specversion counts as 1.0. An attribute that is null
// counts as absent (CloudEvents JSON format §2.2).
func FromValue(v expr.Value) (Event, error) {
	if !v.IsObject() {
		return Event{}, &AttributeError{Msg: "must be a JSON object, not " + v.Kind().WithArticle()}
	}
	var e Event
	for _, m := range v.Members() {
		if m.Key == "data" {
			e.Data, e.HasData = m.Value, true
			continue
		}
		if m.Value.IsNull() {
			continue
		}
		if err := e.set(m.Key, m.Value); err != nil {
			return Event{}, err
		}
	}
	return e, e.Check()
}

// Check reports what an event that was not read but made lacks.
func (e Event) Check() error {
	for _, r := range []struct{ name, value string }{{"id", e.ID}, {"source", e.Source}, {"type", e.Type}} {
		if r.value == "" {
			return &AttributeError{r.name, "is required and must not be empty"}
		}
	}
	if e.HasData && e.DataBase64 != "" {
		return &AttributeError{"data_base64", "must not stand beside data"}
	}
	return nil
}

func (e *Event) set(name string, v expr.Value) error {
	field := e.field(name)
	if field == nil {
		return e.extend(name, v)
	}
	if v.Kind() != expr.KindString {
		return &AttributeError{name, "must be a string, not " + v.Kind().WithArticle()}
	}
	text := v.Str()
	switch name {
	case "specversion":
		if text != SpecVersion {
			return &AttributeError{name, fmt.Sprintf("%q is not supported, only %q", text, SpecVersion)}
		}
	case "time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return &AttributeError{name, fmt.Sprintf("%q is not an RFC 3339 time such as 2026-03-01T12:00:00Z", text)}
		}
	case "data_base64":
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			return &AttributeError{name, "is not base64"}
		}
	}
	*field = text
	return nil
}

// Standard reports whether CloudEvents defines an attribute of a name. Others are extensions.
func Standard(name string) bool { return name == "data" || new(Event).field(name) != nil }

// field is where an attribute that CloudEvents defines is kept, else nil.
func (e *Event) field(name string) *string {
	switch name {
	case "id":
		return &e.ID
	case "source":
		return &e.Source
	case "type":
		return &e.Type
	case "subject":
		return &e.Subject
	case "time":
		return &e.Time
	case "datacontenttype":
		return &e.DataContentType
	case "dataschema":
		return &e.DataSchema
	case "data_base64":
		return &e.DataBase64
	case "specversion":
		return new(string) // always 1.0: checked, not kept
	}
	return nil
}

// extend adds an extension attribute. CloudEvents asks for lower case; 0.5
// §Event Definition itself writes patientId, so upper case is taken as it stands.
func (e *Event) extend(name string, v expr.Value) error {
	if !validName(name) {
		return &AttributeError{name, "an attribute's name consists of ASCII letters and digits"}
	}
	switch v.Kind() {
	case expr.KindString, expr.KindNumber, expr.KindBool:
	default:
		return &AttributeError{name, "an extension must be a string, a number or a boolean, not " + v.Kind().WithArticle() + "; put it into data"}
	}
	e.Put(name, v)
	return nil
}

// Put sets a context attribute of an event that is made, not read: names are taken as
// they are. It reports false for what is not for the maker to choose: id, source, type,
// specversion, time and the data.
func (e *Event) Put(name string, v expr.Value) bool {
	switch name {
	case "id", "source", "type", "specversion", "time", "data", "data_base64":
		return false
	}
	if field := e.field(name); field != nil {
		*field = v.Text()
		return true
	}
	i, found := slices.BinarySearchFunc(e.Extensions, name, byName)
	if !found {
		e.Extensions = slices.Insert(e.Extensions, i, expr.Member{Key: name})
	}
	e.Extensions[i].Value = v
	return true
}

func byName(m expr.Member, name string) int { return strings.Compare(m.Key, name) }

func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

// Value is the event as the object of its JSON format.
func (e Event) Value() expr.Value {
	out := make([]expr.Member, 0, 6+len(e.Extensions))
	out = append(out, expr.Member{Key: "specversion", Value: expr.String(SpecVersion)})
	for _, name := range []string{"id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "data_base64"} {
		if text := *e.field(name); text != "" {
			out = append(out, expr.Member{Key: name, Value: expr.String(text)})
		}
	}
	out = append(out, e.Extensions...)
	if e.HasData {
		out = append(out, expr.Member{Key: "data", Value: e.Data})
	}
	return expr.Object(out...)
}

// Attribute returns a context attribute as text: how attributes are compared.
// Data is not an attribute.
func (e Event) Attribute(name string) (string, bool) {
	switch name {
	case "specversion":
		return SpecVersion, true
	case "data", "data_base64":
		return "", false
	}
	if field := e.field(name); field != nil {
		return *field, *field != ""
	}
	if i, ok := slices.BinarySearchFunc(e.Extensions, name, byName); ok {
		return e.Extensions[i].Value.Text(), true
	}
	return "", false
}
