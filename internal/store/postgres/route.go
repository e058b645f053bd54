package postgres

import (
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
)

const (
	// routeArgs is how many arguments the function has, and maxRoutes how many calls of it
	// share a statement.
	routeArgs = 73
	maxRoutes = 64

	// maxLooks is how often a router looks without a lock; when others change what it sees
	// every time, it looks once more with it ("route-looks").
	maxLooks = 6
)

// routeRequest is a routing that is to be written.
type routeRequest struct {
	waiter
	args   []any
	bytes  int
	result int16
}

func (r *routeRequest) size() int { return r.bytes }
func (*routeRequest) key() string { return "" }

// decision is what a router decided, encoded.
type decision struct {
	rowColumns
	db      *DB
	numbers numbers
	routing store.Routing
	taken   *store.Event // the event that is taken, as it is stored; nil: none
	emit    int64
	data    []byte // of the event
	keys    []eventKey

	start   []*row
	seq     []int32
	message []int32
	input   [][]byte
}

// decide encodes a routing. The numbers come in the order in which the reference gives them
// out.
func (sp *space) decide(ctx context.Context, ns int32, r store.Routing, taken *store.Event) (*decision, error) {
	d := &decision{db: sp.db, routing: r, taken: taken}
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
		row, err := sp.encodeRow(ctx, ns, &n.Instance, 1, true)
		if err != nil {
			return nil, err
		}
		d.start = append(d.start, row)
		d.input = append(d.input, sp.startInput(n))
	}
	return d, nil
}

// args are the arguments of the function.
func (d *decision) args(ns int32, x *notes) []any {
	r := &d.routing
	deliver := d.deliverArgs()
	gather := d.gatherArgs()
	for _, row := range d.start {
		d.add(row)
		d.seq, d.message = append(d.seq, d.numbers.next()), append(d.message, d.numbers.next())
	}
	out := []any{ns, int32(d.numbers), d.emit, list(x.what), list(x.a), list(x.b), list(x.c), list(x.d), list(x.sum)}
	out = append(out, d.takenArgs()...)
	out = append(out, d.eventArgs()...)
	out = append(out, deliver...)
	out = append(out, gather...)
	out = append(out, list(r.Drop), list(r.Again), list(r.Checked))
	out = append(out,
		list(d.id), list(d.kind), list(d.need), list(d.status), list(d.created), list(d.updated), list(d.ended), list(d.wake), list(d.more), list(d.aside),
		list(d.parent), list(d.fault), list(d.client), list(d.state), list(d.group), list(d.labels), list(d.owns), list(d.shard), list(d.rest),
		list(d.seq), list(d.message), list(d.input),
		list(d.labelRow), list(d.label), list(d.labelKind), list(d.labelState), list(d.ownerRow), list(d.owner))
	return out
}

// parts are those of all instances that get something.
func (d *decision) parts() []int16 {
	out := slices.Clone(d.shard)
	for i := range d.routing.Deliver {
		out = append(out, shardOf(d.routing.Deliver[i].Instance))
	}
	return out
}

func (d *decision) takenArgs() []any {
	e := d.taken
	if e == nil {
		return []any{int64(0), []byte{}, int64(0), int64(0), int64(0), false, "", "", []string{}, []byte{}, []byte{}, []int64{}, []int64{}}
	}
	typs, matches := []int64{}, []int64{}
	for _, k := range d.keys {
		typs, matches = append(typs, k.typ), append(matches, k.match)
	}
	return []any{
		e.Seq, eventID(&e.Event), typeOf(e.Event.Type), int64(e.Received), int64(e.Until), len(e.Used) > 0, e.Producer, e.Origin,
		list(e.For), d.fateOf(e), d.data, typs, matches,
	}
}

// fateOf encodes what became of an event but for whom it is kept.
func (d *decision) fateOf(e *store.Event) []byte {
	return d.db.value(codec.AppendFate(nil, &store.Event{Seq: e.Seq, Until: e.Until, Used: e.Used, Why: e.Why}))
}

func (d *decision) eventArgs() []any {
	seqs, until, started, fate, event, instance := []int64{}, []int64{}, []bool{}, [][]byte{}, []int64{}, []string{}
	for i := range d.routing.Events {
		e := &d.routing.Events[i]
		seqs, until, started, fate = append(seqs, e.Seq), append(until, int64(e.Until)), append(started, len(e.Used) > 0), append(fate, d.fateOf(e))
		for _, id := range e.For {
			event, instance = append(event, e.Seq), append(instance, id)
		}
	}
	return []any{seqs, until, started, fate, event, instance}
}

func (d *decision) deliverArgs() []any {
	event, id, at, ticket, seq, input := []int64{}, []string{}, []int64{}, []int64{}, []int32{}, [][]byte{}
	for i := range d.routing.Deliver {
		x := &d.routing.Deliver[i]
		event, id, at, ticket = append(event, x.Event), append(id, x.Instance), append(at, int64(x.At)), append(ticket, int64(x.Reply.Ticket))
		seq, input = append(seq, d.numbers.next()), append(input, d.db.value(codec.AppendInput(nil, &store.Message{To: x.Instance, At: x.At, Event: x.Event, Input: x.Reply})))
	}
	return []any{event, id, at, ticket, seq, input}
}

func (d *decision) gatherArgs() []any {
	seq, until, fits := []int64{}, []int64{}, []int64{}
	offset, key, definition, digest, rest := []int32{}, [][]byte{}, []string{}, []string{}, [][]byte{}
	for i := range d.routing.Gather {
		g := &d.routing.Gather[i]
		seq, offset, until, fits = append(seq, g.Seq), append(offset, d.numbers.next()), append(until, int64(g.Until)), append(fits, fitsOf(g.Key))
		key, definition, digest, rest = append(key, []byte(g.Key)), append(definition, g.Definition), append(digest, g.Digest), append(rest, d.db.value(codec.AppendGathering(nil, g)))
	}
	return []any{seq, offset, until, fits, key, definition, digest, rest}
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
	calls := make([]string, len(batch))
	args := []any{nil} // the token
	for i, r := range batch {
		calls[i] = "~.route(" + parameters(2+i*routeArgs, routeArgs) + ")"
		args = append(args, r.args...)
	}
	text := "SELECT ~.settle($1, ARRAY[" + strings.Join(calls, ", ") + "])"
	var results []int16
	err := sp.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
		args[0] = token
		return sp.db.one(ctx, text, args, &results)
	}, func(kept []int16) { results = kept })
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
	return s.routing(ctx, func(v *view) (*decision, error) {
		routing, err := v.run(func() (store.Routing, error) { return route(v) })
		if err != nil {
			return nil, err
		}
		return s.decide(v.ctx, v.ns, routing, nil)
	})
}

// errKnown says that an event came meanwhile that has the same source and id.
var errKnown = errors.New("the event is known")

// routing has a router look and decide until nothing changes between the two. After a few
// times it does both under the lock.
func (s *Store) routing(ctx context.Context, try func(*view) (*decision, error)) error {
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
		r := &routeRequest{waiter: newWaiter(ctx), args: d.args(ns, &v.notes), bytes: len(d.data)}
		if err := s.routes.submit(r); err != nil {
			return err
		}
		<-r.done
		if r.err != nil {
			return fmt.Errorf("route: %w", r.err)
		}
		if r.result != routeChanged {
			s.wrote(d.parts()...)
			return s.routeResult(ctx, ns, r.result, d)
		}
		if _, err := s.readShapes(ctx, ns); err != nil {
			return err
		}
	}
	return s.routeLocked(ctx, try)
}

// routeLocked looks and decides in one transaction.
func (s *Store) routeLocked(ctx context.Context, try func(*view) (*decision, error)) error {
	var parts []int16
	err := s.transact(ctx, func(ctx context.Context, t *tx) error {
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
		if err := t.one(ctx, "SELECT ~.route("+parameters(1, routeArgs)+")", d.args(t.ns, &notes{}), &result); err != nil {
			return err
		}
		parts = d.parts()
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
