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

// page is the part of a list that a request asks for.
type page struct {
	limit  int64 // as given: 0 and less mean all
	offset int64
	desc   bool
	total  bool // include the total number
}

// defaultLimit is the default length of a list.
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

// value is the pagination member of a response.
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

// maxNames is how many names a list parameter may have ("wfx-names").
const maxNames = 16

// list reads a comma-separated list of names.
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

// instant reads a time; 0: there is none.
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

// clamped is a time as a bound of a list: out of range it is the nearest possible time, and 1970 is not "no
// bound" (0).
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

// maxID is the maximum length of a job's id.
const maxID = 36

// jobID is the job in the path.
func (r *request) jobID() (string, error) {
	id := r.PathValue("id")
	if len(id) > maxID {
		return "", &failure{status: http.StatusBadRequest, text: "the id of a job has at most 36 characters"}
	}
	return id, nil
}
