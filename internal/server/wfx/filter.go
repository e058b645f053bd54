package wfx

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

const filterHeader = "X-Response-Filter"

// responseFilter compiles the filter of a request before anything is changed, so that an invalid filter has
// no effect.
func (v *View) responseFilter(r *http.Request) (*jq.Filter, error) {
	values := r.Header.Values(filterHeader)
	if len(values) == 0 {
		return nil, nil
	}
	f, err := jq.Compile(values[0], v.limits.Filter)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, invalidFilter, "%s: %v", filterHeader, err)
	}
	return f, nil
}

// filterInput measures the input of a filter. Values take many times the memory of their text.
type filterInput struct {
	v    *View
	size int
}

// measure adds a value, and refuses more than a filter may get.
func (in *filterInput) measure(value expr.Value) error {
	most := in.v.limits.Filtered
	bytes, _, large := expr.Measure(value, most, expr.MaxDepth)
	if in.size += bytes; large || in.size > most {
		return refuse(http.StatusBadRequest, invalidFilter,
			"the answer has more than %d bytes, too many for a filter (limit wfx-filter-input); ask for less with limit and offset", most)
	}
	return nil
}

// answerFiltered writes the results of the filter, one JSON value a line. The status is 200, whatever the
// operation's is. If the filter fails the body is {}, as with wfx, since the operation itself succeeded; a
// header has the error.
func (v *View) answerFiltered(w http.ResponseWriter, r *request, value expr.Value) error {
	ctx, cancel := context.WithTimeout(r.Context(), v.limits.FilterTime)
	defer cancel()
	var out bytes.Buffer
	err := r.filter.Run(ctx, v.cfg.Clock.Now(), value, func(line []byte) error {
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	r.release() // a slow client must not block other filters
	h := w.Header()
	if err != nil {
		out.Reset()
		out.WriteString("{}\n")
		h.Set("X-Response-Filter-Error", headerText(err.Error(), maxHeaderText))
	}
	if err := web.Reserve(w, out.Len()); err != nil {
		return err
	}
	text := r.Header.Get(filterHeader) // no longer than filter-source
	h.Set(filterHeader, headerText(text, len(text)))
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(out.Bytes())
	return nil
}

// maxHeaderText bounds an error in a header, in bytes.
const maxHeaderText = 1024

// headerText is text that is valid in a header.
func headerText(s string, most int) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b[:min(len(b), most)])
}
