package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// commitRequest is a commit with all that can be encoded before it is written.
type commitRequest struct {
	waiter
	*store.Commit
	row      *row
	children []encodedStart
	pages    []page
	records  []byte // nil: none
	calls    []call
	emits    []emitRow
	subs     []sub
	messages []messageRow
	bytes    int
}

// encodedStart is a new instance and its first message.
type encodedStart struct {
	row   *row
	input []byte
}

func (r *commitRequest) size() int   { return r.bytes }
func (r *commitRequest) key() string { return r.Instance.ID }

// Commit writes the outcome of a step.
func (s *Store) Commit(ctx context.Context, c store.Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ns, err := s.ns(ctx)
	if err != nil {
		return err
	}
	if c.Event != nil {
		if err := s.commitEvent(ctx, ns, &c); err != nil {
			return fmt.Errorf("commit instance %s with event %s: %w", c.Instance.ID, c.Event.Event.Event.ID, err)
		}
		return nil
	}
	r, err := s.encode(ctx, ns, &c)
	if err != nil {
		return err
	}
	if err := s.commits.submit(r); err != nil {
		return err
	}
	<-r.done // even if ctx ends: once the request is sent, its outcome must be known
	return r.err
}

func (sp *space) encode(ctx context.Context, ns int32, c *store.Commit) (*commitRequest, error) {
	r := &commitRequest{waiter: newWaiter(ctx), Commit: c}
	if err := c.CheckChunks(); err != nil {
		return nil, err
	}
	in := &c.Instance
	row, err := sp.encodeRow(ctx, ns, in, in.Rev+1, in.Rev == 0, c.Chunks)
	if err != nil {
		return nil, err
	}
	data := codec.EncodeCommit(nil, c)
	r.row, r.records = row, data.Records
	r.bytes = len(row.Rest) + data.Bytes
	for i := range c.Pages {
		p := page{Frame: int64(c.Pages[i].Frame), Part: c.Pages[i].Part}
		if c.Pages[i].Data != nil {
			p.Data = codec.AppendPage(nil, in.ID, in.Created, &c.Pages[i])
			r.bytes += len(p.Data)
		}
		r.pages = replace(r.pages, p, func(o page) bool { return o.Frame == p.Frame && o.Part == p.Part })
	}
	if !in.Status.Final() { // else they would be gone at once
		r.encodeCalls(data.Calls)
		if err := sp.encodeSubs(ctx, ns, r, data.Filters); err != nil {
			return nil, err
		}
	}
	if err := r.encodeSent(&data); err != nil {
		return nil, err
	}
	for i := range c.Children {
		row, err := sp.encodeRow(ctx, ns, &c.Children[i].Instance, 1, true, nil)
		if err != nil {
			return nil, err
		}
		r.children = append(r.children, encodedStart{row, data.Starts[i]})
		r.bytes += len(row.Rest)
	}
	return r, nil
}

// replace appends a row in place of the same one: of several the last one counts.
func replace[T any](rows []T, r T, same func(T) bool) []T {
	return append(slices.DeleteFunc(rows, same), r)
}

func (r *commitRequest) encodeCalls(data [][]byte) {
	for i := range r.Calls {
		c := call{Ticket: int64(r.Calls[i].Ticket), Shard: r.row.Shard, Call: data[i]}
		if shard := r.Calls[i].Shard; shard != 0 {
			c.Shard = int16(shard - 1)
		}
		r.calls = replace(r.calls, c, func(o call) bool { return o.Ticket == c.Ticket })
	}
}

func (sp *space) encodeSubs(ctx context.Context, ns int32, r *commitRequest, data [][]byte) error {
	for i := range r.Subscribe {
		s := &r.Subscribe[i]
		typ := typeOf(s.Filter.Type)
		shape, match := codec.MatchOf(&s.Filter)
		if match != codec.NoMatch {
			if err := sp.learn(ctx, ns, typ, shape); err != nil {
				return fmt.Errorf("commit instance %s: %w", r.Instance.ID, err)
			}
		}
		row := sub{
			Ticket: int64(s.Ticket), Typ: typ, Match: match, Late: !s.Filter.Correlated(),
			Name: []byte(s.Name), Filter: data[i],
		}
		r.subs = replace(r.subs, row, func(o sub) bool { return o.Ticket == row.Ticket })
	}
	return nil
}

// encodeSent encodes what goes to others: events and messages.
func (r *commitRequest) encodeSent(data *codec.Commit) error {
	for i := range r.Emits {
		e := &r.Emits[i]
		if !storable(e.Definition) {
			return fmt.Errorf("commit instance %s: the definition of an event: %w", r.Instance.ID, store.ErrText)
		}
		r.emits = append(r.emits, emitRow{Sink: e.Sink, Definition: e.Definition, Event: data.Emits[i]})
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if !storable(m.To) {
			return fmt.Errorf("commit instance %s: a message to %q: %w", r.Instance.ID, m.To, store.ErrText)
		}
		r.messages = append(r.messages, messageRow{
			To: m.To, At: int64(m.At), Event: m.Event, Ticket: ticketOf(m.Input), Input: data.Messages[i],
		})
	}
	return nil
}

// commitBatch writes commits as one transaction. Where one of them has what the database
// refuses, each is written by itself: the others do not suffer.
func (sp *space) commitBatch(batch []*commitRequest) {
	slices.SortFunc(batch, func(a, b *commitRequest) int { return cmp.Compare(a.Instance.ID, b.Instance.ID) }) // rows are locked in one order
	err := sp.writeCommits(batch)
	switch {
	case err == nil:
	case len(batch) > 1 && oneIsToBlame(err):
		for _, r := range batch {
			if err := sp.writeCommits([]*commitRequest{r}); err != nil {
				r.finish(fmt.Errorf("commit instance %s: %w", r.Instance.ID, err))
			}
		}
	default:
		for _, r := range batch {
			r.finish(fmt.Errorf("commit instance %s: %w", r.Instance.ID, err))
		}
	}
}

// oneIsToBlame reports whether an error may be about what one of several requests has.
func oneIsToBlame(err error) bool {
	var pg *pgconn.PgError
	again, _ := passing(err)
	return errors.As(err, &pg) && !again
}

// writeCommits writes a batch and finishes its requests, unless it fails as a whole.
func (sp *space) writeCommits(batch []*commitRequest) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout) // others wait, too
	defer cancel()
	ns, err := sp.ns(ctx)
	if err != nil {
		return err
	}
	if len(batch) == 1 && batch[0].plain() && !sp.db.opts.gather && sp.db.has.commitOne {
		return sp.writeOne(ctx, ns, batch[0])
	}
	c := &commitArgs{NS: ns}
	places := make([]int32, len(batch))
	for i, r := range batch {
		places[i] = c.add(r, sp.leases.epoch)
	}
	var verdict []int16
	var revs []int64
	var absent []string
	err = sp.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
		revs, absent = nil, nil
		c.Token = token
		call, args := commitFunction.call(c)
		return sp.db.first(ctx, call, args, &verdict, &revs, &absent)
	}, func(result []int16) { verdict = result })
	if err != nil {
		return sp.doubt(err)
	}
	for i, r := range batch {
		at := places[i] - 1
		rev := int64(-1)
		if revs != nil {
			rev = revs[at]
		}
		r.finish(r.verdict(verdict[at], rev, absent))
	}
	sp.wrote(c.parts()...)
	sp.foldSometimes(ctx)
	return nil
}

// doubt notes that the calls of a commit may be stored without a node that makes them.
func (sp *space) doubt(err error) error {
	if errors.Is(err, store.ErrUncertain) {
		sp.doubts.begin()
	}
	return err
}

// verdict is the error that the function's answer stands for.
func (r *commitRequest) verdict(code int16, rev int64, absent []string) error {
	in := &r.Instance
	switch code {
	case 0:
		return nil
	case 1:
		if in.Rev == 0 {
			return fmt.Errorf("create instance %s: it exists: %w", in.ID, store.ErrConflict)
		}
		if rev == in.Rev {
			return fmt.Errorf("commit instance %s at revision %d: it is another one, or has messages: %w", in.ID, in.Rev, store.ErrConflict)
		}
		return fmt.Errorf("commit instance %s at revision %d, it is at %d: %w", in.ID, in.Rev, rev, store.ErrConflict)
	case 2:
		return fmt.Errorf("commit instance %s: %w", in.ID, store.ErrNotFound)
	case 4:
		return fmt.Errorf("commit instance %s: %w", in.ID, store.ErrOutdated)
	}
	rows := []*row{r.row}
	for _, child := range r.children {
		rows = append(rows, child.row)
	}
	for _, row := range rows {
		if row.Need != "" && (absent == nil || slices.Contains(absent, row.Need)) {
			return fmt.Errorf("commit instance %s: %w", in.ID, &store.NoContentError{Definition: row.in.Definition, Digest: row.Need})
		}
	}
	return fmt.Errorf("commit instance %s: a content is not there", in.ID)
}
