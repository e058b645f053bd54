package wfx

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
)

const filterHeader = "X-Response-Filter"

// responseFilter compiles the filter of a request, before anything is changed: who sends a
// broken one learns it while nothing has happened yet.
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

// filterInput is what is gathered for a filter. As values it takes many times what it
// takes as text.
type filterInput struct {
	v    *View
	size int
}

// measure counts a value in, and says whether there is more than a filter is given.
func (in *filterInput) measure(value expr.Value) error {
	most := in.v.limits.Filtered
	bytes, _, large := expr.Measure(value, most, expr.MaxDepth)
	if in.size += bytes; large || in.size > most {
		return refuse(http.StatusBadRequest, invalidFilter,
			"there are more than %d bytes, too many to be filtered (limit wfx-filter-input); ask for less with limit and offset", most)
	}
	return nil
}

// answerFiltered writes what the filter gives, a JSON value a line. The answer is 200
// whatever the operation's is; where the filter fails it is {}, as with wfx: the operation
// itself has succeeded. Why it failed a header says.
func (v *View) answerFiltered(w http.ResponseWriter, r *request, value expr.Value) error {
	ctx, cancel := context.WithTimeout(r.Context(), v.limits.FilterTime)
	defer cancel()
	var out bytes.Buffer
	err := r.filter.Run(ctx, v.cfg.Clock.Now(), value, func(line []byte) error {
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	r.release() // a client that reads slowly keeps no filter waiting
	h := w.Header()
	if err != nil {
		out.Reset()
		out.WriteString("{}\n")
		h.Set("X-Response-Filter-Error", headerText(err.Error(), maxHeaderText))
	}
	if err := reserve(w, out.Len()); err != nil {
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

// maxHeaderText is how much of an error a header tells.
const maxHeaderText = 1024

// headerText is a text that can stand in a header.
func headerText(s string, most int) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b[:min(len(b), most)])
}
