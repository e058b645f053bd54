package jsonrpc

import (
	"bufio"
	"bytes"
	"io"
)

// events reads the data of server-sent events (WHATWG HTML §9.2). Names, ids and comments are ignored;
// lines end with LF or CRLF.
type events struct{ lines *bufio.Reader }

// next returns the data of the next event that has any. At the end it is io.EOF; what is left of an event
// without its end does not count.
func (e *events) next() ([]byte, error) {
	var data []byte
	for {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && len(bytes.TrimSpace(data)) > 0 {
			return data, nil
		}
		if len(line) == 0 {
			data = nil
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) == "data" {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
}

func newEvents(r io.Reader) *events {
	lines := bufio.NewReader(r)
	if bom, _ := lines.Peek(3); string(bom) == "\ufeff" {
		_, _ = lines.Discard(3)
	}
	return &events{lines}
}
