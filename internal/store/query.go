package store

import (
	"cmp"
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

	Newest bool  // newest first
	After  int64 // Seq of the last one seen
	Offset int   // so many are left out first
	Limit  int   // 0: all

	Bare bool // without Output, which may be large
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
