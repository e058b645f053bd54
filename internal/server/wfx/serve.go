package wfx

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// request is a request that passed all that comes before its handler.
type request struct {
	*http.Request
	side   Side
	path   web.Values
	query  url.Values
	filter *jq.Filter // nil: none
	client string     // only jobs of this client exist; "": all
	heavy  func()     // releases the place of a heavy response; nil: there is none

	changed func(before, after string)
}

// PathValue returns a segment of the path. Those of http.Request are not set.
func (r *request) PathValue(name string) string { return r.path.PathValue(name) }

// Hooks are what a server does with a request on its way.
type Hooks struct {
	// Admit lets a request in, once its sender is authorized to act for a client ("": for all).
	Admit func(client string) error

	// Changed is told what operators changed, for an audit log: a digest, or key=value pairs. nil: nobody asks.
	Changed func(before, after string)
}

// Serve answers a request whose operation Find found. It does not read the body before it calls Admit. Its
// error is that of Admit, of the store, or of a stream or list that broke off.
func (v *View) Serve(side Side, w http.ResponseWriter, r *http.Request, match Match, hooks Hooks) error {
	h := w.Header()
	h.Add("Vary", "Origin")
	if allow := v.cfg.AllowOrigin(r); allow != "" {
		h.Set("Access-Control-Allow-Origin", allow)
		h.Set("Access-Control-Expose-Headers", "ETag, X-History-Truncated, X-Response-Filter, X-Response-Filter-Error")
	}
	err := v.dispatch(side, w, r, match, hooks)
	if err == nil {
		return nil
	}
	if f := failureOf(err); f != nil {
		f.write(w)
		return nil
	}
	return err
}

func (v *View) dispatch(side Side, w http.ResponseWriter, r *http.Request, match Match, hooks Hooks) error {
	op := match.Route
	switch {
	case !match.PathExists():
		return &failure{status: http.StatusNotFound, text: "404 page not found"}
	case op == nil && r.Method == http.MethodOptions:
		preflight(w, r, match.Allow())
		return nil
	case op == nil:
		w.Header().Set("Allow", match.Allow())
		return &failure{status: http.StatusMethodNotAllowed, bare: true}
	}
	in := &request{Request: r, path: match.Values, side: side, changed: hooks.Changed}
	if side == South || in.changed == nil {
		in.changed = func(string, string) {}
	}
	var err error
	if in.query, err = url.ParseQuery(r.URL.RawQuery); err != nil && len(op.params) > 0 {
		return malformed("the query cannot be read: %v", err)
	}
	if in.client, err = v.clientOf(in, op); err != nil {
		return err
	}
	if side == South && op.north {
		return forbidden
	}
	if err := hooks.Admit(in.client); err != nil {
		return err
	}
	defer in.release()
	if err := op.checkTexts(in); err != nil {
		return err
	}
	if op.filtered {
		if in.filter, err = v.responseFilter(r); err != nil {
			return err
		}
	}
	if in.filter != nil { // before anything is changed: a change must be answered
		if err := v.enterHeavy(in); err != nil {
			return err
		}
	}
	return op.handle(v, w, in)
}

// enterHeavy takes a place for a response that takes much memory.
func (v *View) enterHeavy(r *request) (err error) {
	if r.heavy == nil {
		r.heavy, err = v.cfg.Heavy(r.Context())
	}
	return err
}

// release releases that place.
func (r *request) release() {
	if r.heavy != nil {
		r.heavy()
	}
}

// checkTexts refuses text that the store cannot hold.
func (op *Operation) checkTexts(r *request) error {
	if name := r.path.Unless(store.Storable); name != "" {
		return malformed("the path: %s contains NUL or is not valid UTF-8", name)
	}
	for _, name := range op.params { // others are ignored
		for _, value := range r.query[name] {
			if !store.Storable(value) {
				return malformed("parameter %q contains NUL or is not valid UTF-8", name)
			}
		}
	}
	for _, name := range []string{"X-Client-Id", "If-Match", "Last-Event-ID"} {
		if !store.Storable(r.Header.Get(name)) {
			return malformed("the header %s contains NUL or is not valid UTF-8", name)
		}
	}
	return nil
}

// preflight answers a CORS preflight, if Serve has allowed the origin.
func preflight(w http.ResponseWriter, r *http.Request, allow string) {
	h := w.Header()
	h.Set("Allow", allow)
	if h.Get("Access-Control-Allow-Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, Last-Event-ID, X-Client-Id, X-Response-Filter")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusNoContent)
}

// clientOf is the client that a device is restricted to.
func (v *View) clientOf(r *request, op *Operation) (string, error) {
	if r.side != South || op.Access == Open {
		return "", nil
	}
	id, restricted, err := v.cfg.Client(r.Request)
	if err != nil || !restricted {
		return "", err
	}
	if id == "" {
		return "", &Refusal{http.StatusForbidden, "the client is unknown"}
	}
	return id, nil
}

// answer writes a value, or the results of the response filter.
func (v *View) answer(w http.ResponseWriter, r *request, status int, value expr.Value) error {
	if r.filter != nil {
		in := filterInput{v: v}
		if err := in.measure(value); err != nil {
			return err
		}
		return v.answerFiltered(w, r, value)
	}
	text := append(value.AppendJSON(nil), '\n')
	if err := web.Reserve(w, len(text)); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
	return nil
}

// setRevision sets the revision of a job, for If-Match.
func setRevision(w http.ResponseWriter, rev int64) {
	w.Header().Set("ETag", `"`+strconv.FormatInt(rev, 10)+`"`)
}

// revision reads If-Match; 0: any revision.
func (r *request) revision() (int64, error) {
	values := r.Header.Values("If-Match")
	if len(values) == 0 || len(values) == 1 && values[0] == "*" {
		return 0, nil
	}
	text, quoted := strings.CutPrefix(values[0], `"`)
	text, closed := strings.CutSuffix(text, `"`)
	rev, err := strconv.ParseInt(text, 10, 64)
	if len(values) > 1 || !quoted || !closed || err != nil || rev < 1 {
		return 0, malformed("the header If-Match must be the ETag of a job, which is its revision in quotes")
	}
	return rev, nil
}

// target returns the job that a request changes, and the revision that it must have.
func (r *request) target() (id string, rev int64, err error) {
	if rev, err = r.revision(); err != nil {
		return "", 0, err
	}
	id, err = r.jobID()
	return id, rev, err
}

// errBroken marks a bug of this program.
var errBroken = errors.New("wfx: internal error")
