package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// What the function that routes answers.
const (
	routed       = 0
	routeChanged = 1 // something that the router looked at
	routeKnown   = 2 // the event
	routeAbsent  = 3 // a content

	// Of an event with its step.
	stepOutdated = 4
	stepConflict = 5
	stepAbsent   = 6 // its instance
)

const (
	// maxRoutes is how many calls of the function share a statement.
	maxRoutes = 64

	// preparedRoutes is up to how many the statement is prepared: each number is a statement of its own.
	preparedRoutes = 8

	// maxLooks is how often a router looks without a lock; when others change what it sees
	// every time, it looks once more with it ("route-looks").
	maxLooks = 6
)

// routeRequest is a routing that is to be written.
type routeRequest struct {
	waiter
	args   *routeArgs
	step   *commitRequest // that is written with the event; nil: none
	bytes  int
	result int16
}

func (r *routeRequest) size() int { return r.bytes }

func (r *routeRequest) key() string {
	if r.step == nil {
		return ""
	}
	return r.step.key()
}

// decision is what a router decided, encoded as far as it can be without numbers.
type decision struct {
	routing store.Routing
	taken   *store.Event // the event that is taken, as it is stored; nil: none
	emit    int64
	data    []byte // of the event
	keys    []eventKey
	start   []encodedStart
}

// decide encodes a routing.
func (sp *space) decide(ctx context.Context, ns int32, r store.Routing, taken *store.Event) (*decision, error) {
	d := &decision{routing: r, taken: taken}
	if taken != nil {
		for _, e := range r.Events {
			if e.Seq == taken.Seq {
				taken.Until, taken.For, taken.Used, taken.Why = e.Until, e.For, e.Used, e.Why
			}
		}
		d.routing.Events = slices.DeleteFunc(slices.Clone(r.Events), func(e store.Event) bool { return e.Seq == taken.Seq })
	}
	for _, e := range r.Events {
		if !storable(e.For...) {
			return nil, fmt.Errorf("event %d: an instance that it is kept for: %w", e.Seq, store.ErrText)
		}
	}
	for i := range r.Start {
		n := &r.Start[i]
		row, err := sp.encodeRow(ctx, ns, &n.Instance, 1, true, nil)
		if err != nil {
			return nil, err
		}
		d.start = append(d.start, encodedStart{row, codec.EncodeStart(n)})
	}
	return d, nil
}

// routeBatch writes routings as one transaction, a statement that calls the function for
// each. Each has a result of its own, also where the answer is lost. Where the database refuses one of them, each is written by itself.
func (sp *space) routeBatch(batch []*routeRequest) {
	var late error // the database did not take the part before: the others waited as long
	for part := range slices.Chunk(batch, maxRoutes) {
		err := late
		if late == nil {
			err = sp.writeRoutes(part)
		}
		if errors.As(err, new(*lateError)) || errors.As(err, new(*lostError)) {
			late = &lateError{sp.db.opts.Patience}
		}
		for _, r := range part {
			alone := err
			if err != nil && len(part) > 1 && oneIsToBlame(err) {
				alone = sp.writeRoutes([]*routeRequest{r})
			}
			r.finish(alone)
		}
		sp.foldSometimes(context.Background())
	}
}

func (sp *space) writeRoutes(batch []*routeRequest) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout) // others wait, too
	defer cancel()
	slices.SortStableFunc(batch, func(a, b *routeRequest) int { return cmp.Compare(a.steps(), b.steps()) }) // fewer statements differ
	calls, steps := make([]string, len(batch)), 0
	args, locks := []any{nil}, "" // the token
	if ids := lockedBefore(batch); len(ids) > 0 {
		steps, args, locks = len(ids), append(args, batch[0].args.NS, ids), " FROM ~.lock_instances($2, $3)"
	}
	for i, r := range batch {
		text, values := r.call(len(args)+1, sp.leases.epoch)
		calls[i], args = text, append(args, values...)
	}
	call := statement{routeFunction.name, "SELECT ~.settle($1, ARRAY[" + strings.Join(calls, ", ") + "])" + locks}
	switch {
	case len(batch) > 1:
		call.name = fmt.Sprint("routes_", len(batch)-steps, "_", steps)
	case steps > 0:
		call.name = takeFunction.name
	}
	var results []int16
	err := sp.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
		args[0] = token
		if len(batch) > preparedRoutes {
			return sp.db.one(ctx, call.text, args, &results)
		}
		return sp.db.first(ctx, call, args, &results)
	}, func(kept []int16) { results = kept })
	if err != nil && steps > 0 {
		return sp.doubt(err)
	}
	if err != nil {
		return err
	}
	if len(results) != len(batch) {
		return fmt.Errorf("%d results of %d routings", len(results), len(batch))
	}
	for i, r := range batch {
		r.result = results[i]
	}
	return nil
}

// Route decides again about events that are kept.
func (s *Store) Route(ctx context.Context, route store.Router) error {
	return s.routing(ctx, nil, func(v *view) (*decision, error) {
		routing, err := store.Decide(func() (store.Routing, error) { return route(v) }, &v.err)
		if err != nil {
			return nil, err
		}
		return s.decide(v.ctx, v.ns, routing, nil)
	})
}

// errKnown says that an event came meanwhile that has the same source and id.
var errKnown = errors.New("the event is known")

// routing has a router look and decide until nothing changes between the two. After a few
// times it does both under the lock. step is the one that is written with it; nil: none.
func (s *Store) routing(ctx context.Context, step *commitRequest, try func(*view) (*decision, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ns, err := s.ns(ctx)
	if err != nil {
		return err
	}
	for range s.db.opts.looks {
		known, err := s.shapesOf(ctx, ns)
		if err != nil {
			return err
		}
		v := &view{ctx: ctx, sp: s.space, ns: ns, q: s.db.pool, known: known, noting: true}
		d, err := try(v)
		if err != nil {
			return err
		}
		r := d.request(ctx, ns, v.notes, step)
		if err := s.routes.submit(r); err != nil {
			return err
		}
		<-r.done
		if r.err != nil {
			return fmt.Errorf("route: %w", r.err)
		}
		if r.result != routeChanged {
			s.wrote(r.parts()...)
			return s.routeResult(ctx, ns, r.result, d)
		}
		if _, err := s.readShapes(ctx, ns); err != nil {
			return err
		}
	}
	return s.routeLocked(ctx, step, try)
}

// routeLocked looks and decides in one transaction.
func (s *Store) routeLocked(ctx context.Context, step *commitRequest, try func(*view) (*decision, error)) error {
	var parts []int16
	err := s.transact(ctx, func(ctx context.Context, t *tx) error {
		if step != nil {
			if _, err := t.do(ctx, "SELECT ~.lock_instances($1, $2)", t.ns, []string{step.Instance.ID}); err != nil {
				return err
			}
		}
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		known, err := s.readShapes(ctx, t.ns)
		if err != nil {
			return err
		}
		d, err := try(&view{ctx: ctx, sp: s.space, ns: t.ns, q: t.Tx, known: known})
		if err != nil {
			return err
		}
		result := int16(0)
		r := d.request(ctx, t.ns, nil, step)
		call, values := r.call(1, s.leases.epoch)
		if err := t.one(ctx, "SELECT "+call, values, &result); err != nil {
			return err
		}
		parts = r.parts()
		return s.routeResult(ctx, t.ns, result, d)
	})
	if err == nil {
		s.wrote(parts...)
	}
	return err
}

// routeResult is the error that the function's answer stands for.
func (s *Store) routeResult(ctx context.Context, ns int32, result int16, d *decision) error {
	switch result {
	case routed:
		return nil
	case routeKnown, routeChanged:
		return errKnown
	case stepOutdated:
		return store.ErrOutdated
	case stepAbsent:
		return store.ErrNotFound
	case stepConflict:
		return fmt.Errorf("it is at another revision, or has messages: %w", store.ErrConflict)
	}
	digests := map[string]string{}
	var order []string
	for _, n := range d.routing.Start {
		digests[n.Instance.Digest] = n.Instance.Definition
		order = append(order, n.Instance.Digest)
	}
	for _, g := range d.routing.Gather {
		digests[g.Digest] = g.Definition
		order = append(order, g.Digest)
	}
	for _, digest := range order {
		there := false
		if err := s.db.one(ctx, "SELECT EXISTS (SELECT 1 FROM ~.contents WHERE ns = $1 AND digest = $2)", []any{ns, digest}, &there); err != nil {
			return err
		}
		if !there && digest != "" {
			return &store.NoContentError{Definition: digests[digest], Digest: digest}
		}
	}
	return fmt.Errorf("a content was deleted meanwhile: %w", store.ErrConflict)
}
