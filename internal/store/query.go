package store

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Query selects instances. Empty fields select all; several of them narrow. Stores find
// by definition, version, status, with or without Root, and by parent, error, labels, name, key and
// text without looking at others; by the rest they compare. With Jobs set they find by any of definition, version, State and
// Groups, together with Client or with Tagged, without looking at others: ten of a million
// jobs cost what ten of a thousand do.
type Query struct {
	Definition string
	Version    string
	Status     []core.Status // any of them
	State      string        // one that the instance is in; of a job Job.State, also when it is over
	Parent     string
	Tree       string  // of instances that are not over
	Error      string  // the name of the fault
	Labels     []Label // all of them
	Name       string
	Key        string // of its start, or the value of a correlation attribute
	Text       string // its ID, Name or Key, or the value of a label or correlation attribute
	Root       bool   // only instances without a parent

	Jobs   bool     // jobs only
	Client string   // of jobs
	Groups []string // any of them; of jobs
	Tagged []Label  // any of them

	CreatedFrom, CreatedTo core.Time // from, inclusive, to, exclusive; 0: open
	UpdatedFrom, UpdatedTo core.Time

	// What a store may use to leave out others, and need not: whoever asks compares.
	Near   string // a state
	Prefix string // of the ID

	ByCreated bool      // in the order of Created, and of Seq where that is equal
	Newest    bool      // newest first
	After     int64     // Seq of the last one seen
	AfterTime core.Time // and, with ByCreated, its Created
	Offset    int       // so many are left out first
	Limit     int       // 0: all; a count stops there, too

	Bare bool // without Output, which may be large
}

// Indexed is the part of a query that an index answers, so that a list of it reads the instances that it has and no
// others. Whole reports whether nothing else must hold. Where several parts would do, it is the one that
// selects the fewest in most cases.
func (q Query) Indexed() (part Query, whole bool) {
	part = Query{Newest: q.Newest, After: q.After, AfterTime: q.AfterTime, Offset: q.Offset, Limit: q.Limit, Bare: q.Bare}
	q.ByCreated, q.Newest, q.After, q.AfterTime, q.Offset, q.Limit, q.Bare = false, false, 0, 0, 0, 0, false
	switch {
	case q.Name != "":
		part.Name, q.Name = q.Name, ""
	case q.Key != "":
		part.Key, q.Key = q.Key, ""
	case q.Text != "":
		part.Text, q.Text = q.Text, ""
	case q.Tree != "":
		part.Tree, q.Tree = q.Tree, ""
	case q.Parent != "":
		part.Parent, q.Parent = q.Parent, ""
	case q.Jobs && len(q.Status) == 0:
		part.Jobs, part.Definition, part.Version, part.State, part.Groups = true, q.Definition, q.Version, q.State, q.Groups
		q.Jobs, q.Definition, q.Version, q.State, q.Groups = false, "", "", "", nil
		switch {
		case q.Client != "":
			part.Client, q.Client = q.Client, ""
		case len(q.Tagged) > 0:
			part.Tagged, q.Tagged = q.Tagged, nil
		case len(q.Labels) > 0:
			part.Tagged, q.Labels = q.Labels[:1], q.Labels[1:]
		}
	case len(q.Labels) > 0:
		part.Labels, q.Labels = q.Labels[:1], q.Labels[1:]
	case q.Error != "":
		part.Error, q.Error = q.Error, ""
	case q.State != "" || q.Near != "" || q.Prefix != "":
		part.Near, part.Prefix = cmp.Or(q.State, q.Near), q.Prefix
		part.Definition, part.Version, part.Status = q.Definition, q.Version, q.Status
		return part, false
	case q.timed() && q.Definition == "" && q.Version == "" && len(q.Status) == 0:
		part.ByCreated, part.Root = true, q.Root
		part.CreatedFrom, part.CreatedTo = q.CreatedFrom, q.CreatedTo
		if q.UpdatedTo != 0 && (q.CreatedTo == 0 || q.UpdatedTo < q.CreatedTo) {
			part.CreatedTo = q.UpdatedTo // none changes before it is created
		}
		q.Root, q.CreatedFrom, q.CreatedTo = false, 0, 0
	default:
		part.Jobs, part.Definition, part.Version, part.Status, part.Root = q.Jobs, q.Definition, q.Version, q.Status, q.Root
		q.Jobs, q.Definition, q.Version, q.Status, q.Root = false, "", "", nil, false
	}
	if len(q.Labels) == 0 {
		q.Labels = nil
	}
	return part, reflect.DeepEqual(q, Query{})
}

// timed reports whether a query bounds a time.
func (q *Query) timed() bool {
	return q.CreatedFrom != 0 || q.CreatedTo != 0 || q.UpdatedFrom != 0 || q.UpdatedTo != 0
}

// Counted reports whether stores keep the count of what a query selects, so that it costs the same for many as for few.
func (q *Query) Counted() bool {
	kept := Query{Definition: q.Definition, Version: q.Version, Status: q.Status}
	if q.OfJobs() {
		kept = Query{Jobs: q.Jobs, Definition: q.Definition, Version: q.Version, State: q.State, Groups: q.Groups}
	}
	return reflect.DeepEqual(*q, kept)
}

// OfJobs reports whether a query selects jobs only: nothing else is in a group.
func (q *Query) OfJobs() bool {
	return q.Jobs || len(q.Groups) > 0 && !slices.Contains(q.Groups, "")
}

// Compare orders instances as a query lists them.
func (q *Query) Compare(a, b *Instance) int {
	c := cmp.Compare(a.Seq, b.Seq)
	if q.ByCreated {
		c = cmp.Or(cmp.Compare(a.Created, b.Created), c)
	}
	if q.Newest {
		c = -c
	}
	return c
}

// Behind has a query go on behind an instance.
func (q *Query) Behind(in *Instance) {
	q.After = in.Seq
	if q.ByCreated {
		q.AfterTime = in.Created
	}
}

// Label is a label that an instance must have: with that value as text, or with any. A
// label that is a list has each of its values.
type Label struct {
	Name, Value string
	Any         bool
}

// Selects reports whether an instance fits, apart from After, Offset and Limit.
func (q *Query) Selects(in *Instance) bool {
	fault := ""
	if in.Fault != nil {
		fault = in.Fault.Name
	}
	fits := func(want, have string) bool { return want == "" || want == have }
	within := func(t, from, to core.Time) bool { return (from == 0 || t >= from) && (to == 0 || t < to) }
	return q.finds(in) && (!q.Root || in.Parent == "") && fits(q.Definition, in.Definition) && fits(q.Version, in.Version) && fits(q.Parent, in.Parent) && fits(q.Error, fault) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, in.Status)) &&
		(q.State == "" || in.InState(q.State)) &&
		within(in.Created, q.CreatedFrom, q.CreatedTo) && within(in.Updated, q.UpdatedFrom, q.UpdatedTo) &&
		!slices.ContainsFunc(q.Labels, func(l Label) bool { return !l.in(in.Labels) }) &&
		(!q.Jobs || in.Job.State != "") && fits(q.Client, in.Job.Client) &&
		(len(q.Groups) == 0 || slices.Contains(q.Groups, in.Job.Group)) &&
		(len(q.Tagged) == 0 || slices.ContainsFunc(q.Tagged, func(l Label) bool { return l.in(in.Labels) }))
}

// InState reports whether an instance is in a state. A job that is over is in its last.
func (in *Instance) InState(state string) bool {
	if in.Job.State != "" {
		return in.Job.State == state
	}
	return slices.Contains(in.Active, state)
}

func (l Label) in(labels expr.Value) bool {
	v, ok := labels.Get(l.Name)
	return ok && (l.Any || slices.Contains(LabelTexts(v), l.Value))
}

// LabelTexts are the texts by which a label's value is found.
func LabelTexts(v expr.Value) []string {
	if v.Kind() == expr.KindArray {
		var out []string
		for _, it := range v.Items() {
			out = append(out, labelText(it))
		}
		return out
	}
	return []string{labelText(v)}
}

func labelText(v expr.Value) string {
	if v.Kind() == expr.KindString {
		return v.Str()
	}
	return v.String()
}

// State is the state of an instance at a revision.
type State struct {
	ID      string
	Rev     int64
	Created core.Time   // of the instance: another may get its id
	Pages   []core.Page // ordered by frame and part
	Damaged error       // where not nil: a page cannot be read
}

// MaxStateBytes is how large the pages are that States reads, if they are of more than one
// instance ("state-bytes").
const MaxStateBytes = 4 << 20

// EventQuery selects kept events. Empty fields select all.
type EventQuery struct {
	Type    string // only those of a type, which are found without looking at others
	Untaken bool   // only unmatched events; not indexed
	Outside bool   // only events that no instance produced; not indexed

	Newest bool  // newest first
	After  int64 // Next of the page before
	Limit  int   // 0: MaxEventScan
}

// MaxEventScan is how many events one query looks at ("event-scan"). A page may have
// fewer than it could, or none, although others come after it.
const MaxEventScan = 1000

// Selects reports whether an event fits, apart from After and Limit.
func (q *EventQuery) Selects(e *Event) bool {
	return (q.Type == "" || q.Type == e.Event.Type) && (!q.Untaken || !e.Taken) && (!q.Outside || e.Producer == "")
}

// EventPage is a part of the kept events.
type EventPage struct {
	Events []Event
	Next   int64 // ask from here on; 0: that was the last part
}

// Stat is how many instances of a version have a status.
type Stat struct {
	Definition, Version string
	Status              core.Status
	Count               int64
}

// JobStat is how many jobs are in a state.
type JobStat struct {
	Definition, State, Group string
	Count                    int64
}

// Compare orders as JobStats lists them.
func (s JobStat) Compare(o JobStat) int {
	return cmp.Or(cmp.Compare(s.Definition, o.Definition), cmp.Compare(s.State, o.State), cmp.Compare(s.Group, o.Group))
}

// Feed is a part of what happened.
type Feed struct {
	Items []FeedItem
	// Oldest is the position up to which items may be forgotten. Where it is beyond the
	// one that was asked for, something is missing: look at the instances themselves.
	Oldest int64
	Next   int64 // ask from here on; below Last: there is more
	Last   int64 // no item has a position beyond this one; it may be another namespace's
}

// MaxFeedBytes is how large the records of one part of the feed may be, about, if it has
// more than one item ("feed-bytes").
const MaxFeedBytes = 1 << 20

// FeedItem is what one commit did.
type FeedItem struct {
	Pos        int64 // grows with every commit
	Instance   string
	Definition string
	Client     string      // of a job
	Status     core.Status // after the commit
	At         core.Time   // of the commit: Updated of the instance
	Records    []core.Record
}

// Problem is something that is wrong with what a store holds.
type Problem struct {
	Where string // the table, or the instance
	Text  string
}
