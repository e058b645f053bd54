package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// fold is a step that was stored: the inputs that it comes of, all at one time.
type fold struct {
	digest            string
	awaited, reusable bool
	now               core.Time
	latest            core.Time // that the store's clock showed when it was stored
	inputs            []core.Input
}

// replays are the instances once more, each folded from its inputs alone, in one memory.
type replays struct {
	pending  map[pendingFold]fold
	folds    map[life][]fold // that are not folded again yet
	states   map[life]*again
	programs map[string]*core.Program // by digest
}

// pendingFold names a step that may be stored. The last one of a node is the one that was, where
// nobody heard of it.
type pendingFold struct {
	node string // "": whichever
	life life
	rev  int64
}

// again is one instance as its inputs have it.
type again struct {
	prog  *core.Program
	state *core.State
	pages []core.Page
}

// folding notes what a node is about to store.
func (l *ledger) folding(node string, c *store.Commit, inputs []core.Input) {
	r := &l.replays
	if r.pending == nil {
		*r = replays{map[pendingFold]fold{}, map[life][]fold{}, map[life]*again{}, map[string]*core.Program{}}
	}
	in := &c.Instance
	me := life{in.ID, in.Created}
	f := fold{digest: in.Digest, awaited: in.Awaited, reusable: in.Reusable, now: in.Updated, inputs: inputs}
	r.pending[pendingFold{node, me, in.Rev}] = f
	if l.w.disk != nil {
		r.pending[pendingFold{"", me, in.Rev}] = f
	}
}

// folded notes that a step is stored.
func (l *ledger) folded(node string, me life, rev int64) {
	r := &l.replays
	f, ok := r.pending[pendingFold{node, me, rev}]
	if !ok || len(f.inputs) == 0 {
		return
	}
	delete(r.pending, pendingFold{node, me, rev})
	f.latest = core.TimeOf(l.w.latest())
	r.folds[me] = append(r.folds[me], f)
}

// foldedAgain: what is stored of an instance is, byte for byte, what its inputs give when they are folded
// from the beginning.
func (w *world) foldedAgain(ctx context.Context) error {
	s, l := w.db.Store, &w.ledger
	for _, me := range l.lives {
		row, err := s.Instance(ctx, me.id)
		if err != nil || row.Created != me.created {
			continue // it was deleted
		}
		r, err := w.foldAgain(ctx, me)
		if err != nil {
			return fmt.Errorf("instance %s: %w", me.id, err)
		}
		w.check(SameState)
		pages, err := s.Pages(ctx, me.id)
		if err != nil {
			return err
		}
		if !samePages(r.pages, pages) && !r.equals(pages) {
			return fmt.Errorf("instance %s is stored as\n%v\nand its inputs, folded again, give\n%v", me.id, pages, r.pages)
		}
		if r.state == nil {
			continue
		}
		if row.Status != r.state.Status() || !expr.Equal(row.Output, r.state.Output()) {
			return fmt.Errorf("instance %s is stored as %s with %s, and its inputs, folded again, give %s with %s", me.id, row.Status, row.Output, r.state.Status(), r.state.Output())
		}
		wake, has := r.state.Wake()
		if row.HasWake != has || has && row.Wake != wake {
			return fmt.Errorf("instance %s is to be woken at %s (%t), and its state says %s (%t)", me.id, row.Wake, row.HasWake, wake, has)
		}
	}
	return nil
}

func samePages(a, b []core.Page) bool {
	return slices.EqualFunc(a, b, func(a, b core.Page) bool {
		return a.Frame == b.Frame && a.Part == b.Part && bytes.Equal(a.Data, b.Data)
	})
}

// equals reports whether pages are of the same state, though not of the same memory.
func (r *again) equals(pages []core.Page) bool {
	if r.state == nil {
		return false
	}
	s, err := core.DecodeState(r.prog, pages, nil)
	return err == nil && samePages(s.Canonical(), r.state.Canonical())
}

// foldAgain folds what an instance was given since it was folded last.
func (w *world) foldAgain(ctx context.Context, me life) (*again, error) {
	all := &w.ledger.replays
	r := all.states[me]
	if r == nil {
		r = &again{}
		if all.states != nil {
			all.states[me] = r
		}
	}
	folds := all.folds[me]
	delete(all.folds, me)
	for _, f := range folds {
		prog, err := w.program(ctx, f.digest)
		if err != nil {
			return nil, err
		}
		r.prog = prog
		for _, in := range f.inputs {
			if err := w.neverEarly(prog, r.state, &f, in); err != nil {
				return nil, err
			}
			res, err := core.StepFor(hostOf(me, f.awaited, f.reusable), prog, r.state, f.now, in)
			if err != nil || res.Stale {
				return nil, fmt.Errorf("%T at %s was taken, and now: stale %t, %w", in, f.now, res.Stale, err)
			}
			r.state = res.State
		}
		r.put(r.state.TakeDirty(nil))
	}
	return r, nil
}

// hostOf is what the engine tells an instance of itself. An id that its caller chose, or a key gives, may come again, so the names of effects tell when the
// instance was created.
func hostOf(me life, awaited, reusable bool) core.Host {
	identity := me.id
	if reusable {
		identity += "~" + strconv.FormatInt(int64(me.created), 36)
	}
	creates := func(f *ir.Function) bool { _, job := ir.JobWorkflow(f.Operation); return job }
	return core.Host{ID: me.id, Created: me.created, Awaited: awaited, Identity: identity, Parks: creates}
}

// neverEarly: no timer, retry or timeout fires early by the store's clock.
func (w *world) neverEarly(prog *core.Program, s *core.State, f *fold, in core.Input) error {
	reply, ok := in.(core.Reply)
	if !ok || s == nil {
		return nil
	}
	for _, o := range s.Open(prog) {
		if o.Ticket != reply.Ticket {
			continue
		}
		if o.At > 0 {
			w.check(NeverEarly)
		}
		if o.At > min(f.now, f.latest) {
			return fmt.Errorf("the %s of %q is for %s; it fired at %s, when the store's clock had come to %s", o.Kind, o.Node, o.At, f.now, f.latest)
		}
	}
	return nil
}

// put stores pages.
func (r *again) put(pages []core.Page) {
	for _, p := range pages {
		i, found := slices.BinarySearchFunc(r.pages, p, func(a, b core.Page) int {
			return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Part, b.Part))
		})
		switch {
		case found && p.Data == nil:
			r.pages = slices.Delete(r.pages, i, i+1)
		case found:
			r.pages[i] = p
		case p.Data != nil:
			r.pages = slices.Insert(r.pages, i, p)
		}
	}
}

// program is the one with a digest.
func (w *world) program(ctx context.Context, digest string) (*core.Program, error) {
	known := w.ledger.replays.programs
	if p := known[digest]; p != nil {
		return p, nil
	}
	row, err := w.db.Store.Content(ctx, digest)
	if err != nil {
		return nil, err
	}
	p, err := ir.Decode(row.Program)
	if err != nil {
		return nil, err
	}
	known[digest], err = core.Link(p, languages.All(), jobdata.Model{})
	return known[digest], err
}
