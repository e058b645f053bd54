package wfx

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// page is what lists are asked for with.
type page struct {
	limit  int64 // as it was given: 0 and less stand for all
	offset int64
	desc   bool
	total  bool // say how many there are
}

// defaultLimit is how long a list is where the request does not say.
const defaultLimit = 10

func (r *request) page() (page, error) {
	p := page{limit: defaultLimit}
	var err error
	if p.limit, err = r.number("limit", defaultLimit, 32); err != nil {
		return p, err
	}
	if p.offset, err = r.number("offset", 0, 64); err != nil {
		return p, err
	}
	switch order := r.query.Get("sort"); {
	case !r.query.Has("sort"), order == "asc":
	case order == "desc":
		p.desc = true
	default:
		return p, malformed("parameter \"sort\" must be asc or desc, not %.40q", order)
	}
	p.offset = max(p.offset, 0)
	p.total, err = r.flag("pagination")
	return p, err
}

// all reports whether there is no limit.
func (p *page) all() bool { return p.limit <= 0 }

// value is the part of an answer that says where in the list it is.
func (p *page) value(total int64) expr.Value {
	return object("limit", expr.Int(p.limit), "offset", expr.Int(p.offset), "total", expr.Int(total))
}

func (r *request) number(name string, value int64, bits int) (int64, error) {
	if !r.query.Has(name) {
		return value, nil
	}
	n, err := strconv.ParseInt(r.query.Get(name), 10, bits)
	if err != nil {
		return 0, malformed("parameter %q must be an integer of %d bits, not %.40q", name, bits, r.query.Get(name))
	}
	return n, nil
}

func (r *request) flag(name string) (bool, error) {
	if !r.query.Has(name) {
		return false, nil
	}
	b, err := strconv.ParseBool(r.query.Get(name))
	if err != nil {
		return false, malformed("parameter %q must be true or false, not %.40q", name, r.query.Get(name))
	}
	return b, nil
}

// maxNames is how many names a list in a parameter has, as with wfx's tags ("wfx-names").
const maxNames = 16

// list reads names that are separated by commas.
func (r *request) list(name string) ([]string, error) {
	values := r.query[name]
	switch {
	case len(values) == 0:
		return nil, nil
	case len(values) > 1:
		return nil, malformed("parameter %q is given more than once; separate its values by commas", name)
	case values[0] == "":
		return nil, malformed("parameter %q is empty", name)
	}
	out := strings.Split(values[0], ",")
	if len(out) > maxNames {
		return nil, malformed("parameter %q has more than %d values (limit wfx-names)", name, maxNames)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// instant reads a time, 0 where there is none.
func (r *request) instant(name string) (core.Time, error) {
	if !r.query.Has(name) {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, r.query.Get(name))
	if err != nil {
		return 0, malformed("parameter %q must be a time like 2026-03-01T00:00:00Z, not %.40q", name, r.query.Get(name))
	}
	return clamped(t), nil
}

// clamped is a time as a bound of a list: what is farther than any job can be is as far as
// any, and 1970 is not "no bound".
func clamped(t time.Time) core.Time {
	switch {
	case t.Before(core.Time(math.MinInt64).Std()):
		return math.MinInt64
	case t.After(core.Time(math.MaxInt64).Std()):
		return math.MaxInt64
	}
	if at := core.TimeOf(t); at != 0 {
		return at
	}
	return -1
}

// maxID is how long the id of a job may be.
const maxID = 36

// jobID is the job that a path names.
func (r *request) jobID() (string, error) {
	id := r.PathValue("id")
	if len(id) > maxID {
		return "", &failure{status: http.StatusBadRequest, text: "the id of a job has no more than 36 characters"}
	}
	return id, nil
}
