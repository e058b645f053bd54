package openapi

import (
	"net/http"
	"strings"
)

// What an operator gives with a call, beside its arguments: headers of the catalogue.

// add joins the operator's headers with those of the request. The operator's win, with
// two exceptions: cookies stand beside those of the document, and the Content-Type is
// that in which the body was written.
func add(header, given http.Header) {
	for name, values := range given {
		switch {
		case name == "Content-Type" && header.Get(name) != "":
		case name == "Cookie" && header.Get(name) != "":
			header.Set(name, header.Get(name)+"; "+strings.Join(values, "; "))
		default:
			header[name] = values
		}
	}
}

// given reports whether the operator gives the parameter.
func (p *parameter) given(header http.Header) bool {
	switch p.in {
	case inHeader:
		return header.Get(p.name) != ""
	case inCookie:
		return hasCookie(header, escape(p.name))
	}
	return false
}

func hasCookie(header http.Header, name string) bool {
	for _, line := range header["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			if key, _, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && key == name {
				return true
			}
		}
	}
	return false
}
