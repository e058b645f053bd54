package event

import (
	"encoding/base64"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// HeaderPrefix precedes the names of attributes in the headers of binary mode.
const HeaderPrefix = "ce-"

// Binary is an event in binary mode, which all protocols with headers use: attributes are
// headers, the data is the body, and its content type is that of the body.
type Binary struct {
	Header map[string][]string // in any case; names without HeaderPrefix are ignored
	Media  string              // the content type; "" is none
	Body   []byte
}

// FromBinary reads an event from outside in binary mode. It is converted to the object of the JSON
// format first, so that both are checked by the same rules. An error is an *[AttributeError].
func FromBinary(b Binary) (Event, error) {
	members, err := attributes(b.Header)
	if err != nil {
		return Event{}, err
	}
	if b.Media != "" {
		members = append(members, expr.Member{Key: "datacontenttype", Value: expr.String(b.Media)})
	}
	if len(b.Body) > 0 {
		data, err := dataOf(b.Media, b.Body)
		if err != nil {
			return Event{}, &AttributeError{"data", err.Error()}
		}
		members = append(members, data)
	}
	return Receive(expr.Object(members...))
}

func attributes(header map[string][]string) ([]expr.Member, error) {
	var members []expr.Member
	seen := map[string]bool{}
	for key, values := range header {
		if len(key) < len(HeaderPrefix) || !strings.EqualFold(key[:len(HeaderPrefix)], HeaderPrefix) {
			continue
		}
		name := strings.ToLower(key[len(HeaderPrefix):])
		switch {
		case name == "data" || name == "data_base64" || name == "datacontenttype":
			return nil, &AttributeError{name, "must not be a header in binary mode: use the body and its content type"}
		case len(values) > 1 || seen[name]:
			return nil, &AttributeError{name, "is given more than once"}
		}
		seen[name] = true
		value, err := DecodeHeader(strings.Join(values, ""))
		if err != nil {
			return nil, &AttributeError{name, err.Error()}
		}
		members = append(members, expr.Member{Key: name, Value: expr.String(value)})
	}
	if !seen["specversion"] {
		return nil, &AttributeError{"specversion", "is required in binary mode"}
	}
	// Sorted, so that the first error is always the same.
	slices.SortFunc(members, func(a, b expr.Member) int { return strings.Compare(a.Key, b.Key) })
	return members, nil
}

// Binary writes the event in binary mode. Names of headers are in lower case.
func (e Event) Binary() (Binary, error) {
	out := Binary{Header: map[string][]string{HeaderPrefix + "specversion": {SpecVersion}}, Media: e.DataContentType}
	for _, m := range e.Value().Members() {
		switch m.Key {
		case "specversion", "data", "data_base64", "datacontenttype":
			continue
		}
		value, _ := e.Attribute(m.Key)
		out.Header[HeaderPrefix+m.Key] = []string{EncodeHeader(value)}
	}
	if out.Media == "" && e.HasData {
		out.Media = "application/json"
	}
	var err error
	switch base, _, _ := mime.ParseMediaType(out.Media); {
	case e.DataBase64 != "":
		out.Body, err = base64.StdEncoding.DecodeString(e.DataBase64)
	case !e.HasData:
	case !isJSON(base) && e.Data.Kind() == expr.KindString:
		out.Body = []byte(e.Data.Str())
	default:
		out.Body = e.Data.AppendJSON(nil)
	}
	return out, err
}

// dataOf is the data of an event in its JSON format: JSON as it is, text as a string,
// anything else as base64.
func dataOf(media string, body []byte) (expr.Member, error) {
	base, params, err := mime.ParseMediaType(media)
	if err != nil {
		base = ""
	}
	switch {
	case isJSON(base):
		v, err := expr.ParseUnique(body)
		if err != nil {
			return expr.Member{}, fmt.Errorf("the body is not JSON, although its content type says so: %w", err)
		}
		return expr.Member{Key: "data", Value: v}, nil
	case isText(base) && utf8.Valid(body) && (params["charset"] == "" || strings.EqualFold(params["charset"], "utf-8")):
		return expr.Member{Key: "data", Value: expr.String(string(body))}, nil
	}
	return expr.Member{Key: "data_base64", Value: expr.String(base64.StdEncoding.EncodeToString(body))}, nil
}

func isJSON(base string) bool {
	return base == "application/json" || base == "text/json" || strings.HasSuffix(base, "+json")
}

func isText(base string) bool {
	return strings.HasPrefix(base, "text/") || base == "application/xml" || strings.HasSuffix(base, "+xml")
}
