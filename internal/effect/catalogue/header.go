package catalogue

import (
	nethttp "net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

	// reserved are the headers that a catalogue cannot set.
	reserved = []string{
		"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect",
		"Proxy-Authorization", "Idempotency-Key",
	}
)

// headers reads the headers of an http or an openapi function.
func (r *reader) headers(f *dialect.Fields) []named {
	all := f.Typed("headers", expr.KindObject)
	if all == nil {
		return nil
	}
	var out []named
	spelled := map[string]string{}
	for _, m := range all.Members {
		name := textproto.CanonicalMIMEHeaderKey(m.Name())
		first, twice := spelled[name]
		if !twice {
			spelled[name] = m.Name()
		}
		switch {
		case !headerName.MatchString(m.Name()):
			r.Errorf(m.KeySpan(), codeValue, "%q is not the name of a header", m.Name())
		case slices.Contains(reserved, name):
			r.Errorf(m.KeySpan(), codeValue, "the header %q is set by Lockstep", name)
		case twice:
			if first != m.Name() { // otherwise the repeated key was already reported
				r.Errorf(m.KeySpan(), codeValue, "the header %q is given twice, also as %q", m.Name(), first).
					WithHint("header names are case-insensitive")
			}
		case !r.Is(m, expr.KindString, "a header"):
		case name == contentType && f.Node.Name() == "openapi":
			r.Errorf(m.KeySpan(), codeValue, "the Content-Type of a body is defined by the document").
				WithHint("leave the header out")
		case name == contentType && (strings.Contains(m.Text, "{{") || looksSecret(m.Text)):
			r.Errorf(m, codeValue, "Content-Type must be constant, without {{ }} and secrets: it decides how the body is written")
		default:
			out = append(out, named{name, r.template(m), r.inside(m)})
		}
	}
	return out
}

const contentType = "Content-Type"

func fillHeaders(all []named, args expr.Value, s *secrets) (nethttp.Header, error) {
	out := nethttp.Header{}
	for _, h := range all {
		for _, e := range h.inside {
			v, err := evalValue(e.program, args)
			if err != nil {
				return nil, err
			}
			if isNothing(v) {
				return nil, invalidf("%s gives nothing, and the header %q would hold only the text around it", e.source, h.name)
			}
		}
		v, err := h.value.fill(args, s)
		if err != nil {
			return nil, err
		}
		if isNothing(v) {
			continue
		}
		text := textOf(v)
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return nil, invalidf("the header %q would hold a line break or another control character", h.name)
		}
		if text != "" {
			out.Set(h.name, text)
		}
	}
	return out, nil
}
