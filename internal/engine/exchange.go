package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
)

// maxExchange bounds the text of an exchange in a record, whatever an invoker notes.
const maxExchange = 2 << 10

// requestMark begins the line of a header of the request. No name of a header begins with it.
const requestMark = "> "

// exchangeText is an exchange as the record of an answer has it: the request line, then the status and the headers
// of the answer, then those of the request.
func exchangeText(x *effect.Exchange) string {
	if x == nil {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", line(x.Method), line(x.Address))
	if x.Status != 0 {
		fmt.Fprintf(&out, "\n%d", x.Status)
	}
	writeHeaders(&out, "\n", x.Headers)
	writeHeaders(&out, "\n"+requestMark, x.RequestHeaders)
	return strings.ToValidUTF8(out.String(), "\ufffd")
}

// writeHeaders adds headers up to the bound of the text.
func writeHeaders(out *strings.Builder, before string, all []effect.Header) {
	for _, h := range all {
		text := before + line(h.Name) + ":"
		if h.Value != "" {
			text += " " + line(h.Value)
		}
		if out.Len()+len(text) > maxExchange {
			return
		}
		out.WriteString(text)
	}
}

// line is a text on one line, of a bounded length.
func line(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return text[:min(len(text), maxExchange/2)]
}

// ParseExchange reads the text of a record of an answer; nil: it has none.
func ParseExchange(text string) *effect.Exchange {
	lines := strings.Split(text, "\n")
	method, address, ok := strings.Cut(lines[0], " ")
	if !ok {
		return nil
	}
	x := &effect.Exchange{Method: method, Address: address}
	for i, text := range lines[1:] {
		if status, err := strconv.Atoi(text); err == nil && i == 0 {
			x.Status = status
			continue
		}
		text, sent := strings.CutPrefix(text, requestMark)
		name, value, _ := strings.Cut(text, ":")
		h := effect.Header{Name: name, Value: strings.TrimPrefix(value, " ")}
		if sent {
			x.RequestHeaders = append(x.RequestHeaders, h)
		} else {
			x.Headers = append(x.Headers, h)
		}
	}
	return x
}
