package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Picture prints the contents of a store, for comparing it with another one after the same writes in
// the same order. It leaves out Seqs and sorts events by source and id, because of two concurrent
// events either may be the older one. It also leaves out which subscriptions are fresh: a store may
// know that no event is kept for one.
func Picture(s store.Store) (string, error) {
	events, err := allEvents(s)
	if err != nil {
		return "", err
	}
	slices.SortFunc(events, func(a, b store.Event) int {
		return cmp.Or(cmp.Compare(a.Event.Source, b.Event.Source), cmp.Compare(a.Event.ID, b.Event.ID))
	})
	numbers := map[int64]int64{}
	for i, e := range events {
		numbers[e.Seq] = int64(i + 1)
	}
	show := showing{Store: s, seq: func(seq int64) int64 { return numbers[seq] }, loose: true}
	rows, err := s.Instances(ctx, store.Query{})
	if err != nil {
		return "", err
	}
	out := ""
	for _, in := range rows {
		in.Seq = 0
		out += printRow(in) + "\n"
		text, err := show.parts(in.ID)
		if err != nil {
			return "", err
		}
		for _, line := range strings.Split(text, "\n") {
			out += in.ID + ": " + line + "\n"
		}
	}
	lists, err := show.lists()
	if err != nil {
		return "", err
	}
	due, err := show.due()
	return out + lists + due, err
}

// Kind classifies an error as callers of stores do; "": no error.
func Kind(err error) string { return kind(err) }

// Difference shows the lines that are only in one of two pictures.
func Difference(real, model string) string { return difference(real, model) }

// showing prints what a store has.
type showing struct {
	store.Store
	seq   func(int64) int64 // how a Seq is shown
	loose bool              // sort what concurrent writers may have written in either order
}

func showRows(s store.Store) (string, error) {
	rows, err := s.Instances(ctx, store.Query{})
	out := ""
	for _, in := range rows {
		in.Seq = 0
		out += printRow(in) + "\n"
	}
	return out, err
}

func (s showing) instance(id string) (string, error) {
	row, err := s.Instance(ctx, id)
	if err != nil {
		return "", err
	}
	out, err := s.parts(id)
	return fmt.Sprintf("%d\n%s", s.seq(row.Seq), out), err
}

// parts prints what belongs to an instance.
func (s showing) parts(id string) (string, error) {
	pages, err := s.Pages(ctx, id)
	if err != nil {
		return "", err
	}
	records, err := s.Records(ctx, id, 0, 0)
	if err != nil {
		return "", err
	}
	subs, err := s.Subscriptions(ctx, id)
	if err != nil {
		return "", err
	}
	inbox, err := s.Messages(ctx, id)
	out := fmt.Sprintf("%v\n%+v", pages, records)
	for _, sub := range subs {
		sub.InstanceSeq = s.seq(sub.InstanceSeq)
		out += fmt.Sprintf("\n%+v", sub)
	}
	for _, m := range inbox {
		m.Seq, m.Event = s.seq(m.Seq), s.seq(m.Event)
		out += fmt.Sprintf("\n%+v", m)
	}
	return out, err
}

func (s showing) lists() (string, error) {
	out := ""
	calls, err := s.Calls(ctx, "")
	if err != nil {
		return "", err
	}
	for _, c := range calls {
		out += fmt.Sprint(s.seq(c.Seq), c.Instance, c.Ticket, c.Attempt, "\n")
	}
	emits, err := s.Emits(ctx, 100)
	if err != nil {
		return "", err
	}
	outbound, err := s.Outbound(ctx, 100)
	if err != nil {
		return "", err
	}
	for _, e := range append(emits, outbound...) {
		out += fmt.Sprint(s.seq(e.Seq), e.Instance, e.Definition, e.Event.Value(), e.Sink, "\n")
	}
	events, err := allEvents(s.Store)
	if err != nil {
		return "", err
	}
	if s.loose {
		slices.SortFunc(events, func(a, b store.Event) int { return cmp.Compare(s.seq(a.Seq), s.seq(b.Seq)) })
	}
	for _, e := range events {
		out += fmt.Sprint(s.seq(e.Seq), eventText(e), "\n")
	}
	unchecked, err := s.Unchecked(ctx, 100)
	if err != nil {
		return "", err
	}
	again, err := s.Again(ctx, 100)
	if err != nil {
		return "", err
	}
	for i, seq := range again {
		again[i] = s.seq(seq)
	}
	if s.loose {
		unchecked = nil
		slices.Sort(again)
	}
	stats, err := s.Stats(ctx)
	if err != nil {
		return "", err
	}
	jobs, err := s.JobStats(ctx)
	if err != nil {
		return "", err
	}
	out += fmt.Sprint("unchecked ", unchecked, "\nagain ", again, "\nstats ", stats, "\njobs ", jobs)
	feed, err := s.Feed(ctx, 0, 1000)
	for _, f := range feed.Items {
		out += fmt.Sprintf("\n%s %s %q %s %d %+v", f.Instance, f.Definition, f.Client, f.Status, f.At, f.Records)
	}
	return out, err
}

// due prints definitions, schedules, gatherings and ready instances.
func (s showing) due() (string, error) {
	const never = core.Time(1 << 60)
	out := ""
	definitions, err := s.ListDefinitions(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range definitions {
		d.Program = nil
		out += fmt.Sprintf("\n%+v", d)
	}
	schedules, err := s.Schedules(ctx, never)
	if err != nil {
		return "", err
	}
	for _, x := range schedules {
		out += fmt.Sprintf("\n%+v", x)
	}
	pos, ok, err := s.Cursor(ctx, "a")
	if err != nil {
		return "", err
	}
	if ok {
		out += fmt.Sprintf("\ncursor a at %d", pos)
	}
	hours, err := s.ListTallies(ctx, 0, never)
	if err != nil {
		return "", err
	}
	for _, h := range hours {
		out += fmt.Sprintf("\n%+v", h)
	}
	policies, err := s.Policies(ctx)
	if err != nil {
		return "", err
	}
	for _, x := range policies {
		out += fmt.Sprintf("\n%+v", x)
	}
	gatherings, err := s.Expired(ctx, never, 100)
	if err != nil {
		return "", err
	}
	for _, g := range gatherings {
		g.Events = slices.Clone(g.Events) // the slice may belong to the store
		for i := range g.Events {
			g.Events[i] = s.seq(g.Events[i])
		}
		g.Seq = 0
		out += fmt.Sprintf("\n%+v", g)
	}
	ready, err := s.Ready(ctx, 0, 100)
	return out + fmt.Sprint("\nready ", ready), err
}
