package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/server/web"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// page builds an [api.Page]. Its items are encoded one by one, so that the page ends before it is too
// large.
type page struct {
	Items [][]byte
	Next  string

	limit, room int // items, and bytes that are left
}

func (s *Server) newPage(limit int) *page {
	return &page{limit: limit, room: s.limits.PageBytes}
}

// add adds an item if it fits; the first one always does. If it does not fit, the caller sets Next.
func (p *page) add(item any) (fits bool, err error) {
	if len(p.Items) == p.limit {
		return false, nil
	}
	text, err := encode(item)
	if err != nil {
		return false, err
	}
	p.room -= len(text)
	if p.room < 0 && len(p.Items) > 0 {
		return false, nil
	}
	p.Items = append(p.Items, bytes.TrimSuffix(text, []byte("\n")))
	return true, nil
}

// parts is the page as JSON. The items are not copied.
func (p *page) parts() ([][]byte, error) {
	out := make([][]byte, 0, 2*len(p.Items)+1)
	separator := []byte(`{"items":[`)
	for i, item := range p.Items {
		out = append(out, separator, item)
		p.Items[i], separator = nil, []byte(",")
	}
	end := []byte("]}\n")
	if len(out) == 0 {
		end = []byte(`{"items":[]}` + "\n")
	}
	if p.Next != "" {
		next, err := encode(p.Next)
		if err != nil {
			return nil, err
		}
		end = append(append(bytes.TrimSuffix(end, []byte("}\n")), `,"next":`...), append(bytes.TrimSuffix(next, []byte("\n")), "}\n"...)...)
	}
	return append(out, end), nil
}

// encode is a value as JSON.
func encode(v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer e.free()
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: write JSON: %w", errInternal, err)
	}
	return bytes.Clone(e.text.Bytes()), nil
}

// answer writes an answer in JSON.
func answer(w http.ResponseWriter, status int, v any) error {
	if p, ok := v.(*page); ok {
		parts, err := p.parts()
		if err != nil {
			return err
		}
		return answerParts(w, status, "application/json", parts)
	}
	e := encoders.Get().(*encoder)
	defer e.free()
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("%w: write JSON: %w", errInternal, err)
	}
	return answerText(w, status, mediaJSON, e.text.Bytes())
}

// encoder writes JSON without HTML escapes.
type encoder struct {
	*json.Encoder
	text bytes.Buffer
}

// encoders are used again, with their memory.
var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.Encoder = json.NewEncoder(&e.text)
	e.SetEscapeHTML(false)
	return e
}}

// keptText is the size up to which the memory of an encoder is kept.
const keptText = 16 << 10

func (e *encoder) free() {
	if e.text.Cap() <= keptText {
		e.text.Reset()
		encoders.Put(e)
	}
}

// answerText writes an answer that clients must not cache: the next one may differ.
func answerText(w http.ResponseWriter, status int, media string, text []byte) error {
	return answerParts(w, status, media, [][]byte{text})
}

// shortText is the length up to which net/http finds the length of a response itself, without a header in a map.
const shortText = 2 << 10

// answerParts writes an answer whose text is in several parts. The memory of each is released once
// it is sent.
func answerParts(w http.ResponseWriter, status int, media string, parts [][]byte) error {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	if err := web.Reserve(w, n); err != nil {
		return err
	}
	h := w.Header()
	if media == mediaJSON {
		h["Content-Type"] = inJSON
	} else {
		h.Set("Content-Type", media)
	}
	if h.Get("Cache-Control") == "" {
		h["Cache-Control"] = notStored
	}
	if n > shortText {
		setHeader(w, "Content-Length", itoa(int64(n)))
	}
	w.WriteHeader(status)
	for i, part := range parts {
		if _, err := w.Write(part); err != nil {
			return nil // the client is gone
		}
		parts[i] = nil
	}
	return nil
}

// answerInstance writes an instance with its revision.
func answerInstance(w http.ResponseWriter, status int, row *store.Instance) error {
	setHeader(w, "Etag", `"`+itoa(row.Rev)+`"`)
	v := ViewInstance(row)
	e := encoders.Get().(*encoder)
	defer e.free()
	text, err := appendInstance(e.text.AvailableBuffer(), &v)
	if err != nil {
		return err
	}
	e.text.Write(append(text, '\n'))
	return answerText(w, status, mediaJSON, e.text.Bytes())
}
