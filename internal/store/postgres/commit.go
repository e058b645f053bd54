package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// commitRequest is a commit with all that can be encoded before it is written.
type commitRequest struct {
	waiter
	*store.Commit
	row      *row
	children []*row
	pages    [][]byte // nil: the page goes
	records  []byte   // nil: none
	calls    [][]byte
	emits    [][]byte
	subs     []encodedSub
	starts   [][]byte
	messages [][]byte
	bytes    int
}

type encodedSub struct {
	ticket, typ, match int64
	late               bool // it gets nothing that came before its instance
	name, filter       []byte
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
	r, err := s.encode(ctx, ns, &c)
	if err != nil {
		return err
	}
	if err := s.commits.submit(r); err != nil {
		return err
	}
	<-r.done // once it is sent, the context does not matter: else nobody knew how it ended
	return r.err
}

func (sp *space) encode(ctx context.Context, ns int32, c *store.Commit) (*commitRequest, error) {
	r := &commitRequest{waiter: newWaiter(ctx), Commit: c}
	var err error
	in := &c.Instance
	if r.row, err = sp.encodeRow(ctx, ns, in, in.Rev+1, in.Rev == 0); err != nil {
		return nil, err
	}
	if len(c.Records) > 0 {
		r.records = sp.db.value(codec.AppendRecords(nil, codec.Told{Instance: in.ID, At: in.Updated, Status: in.Status}, c.Records))
	}
	r.bytes = len(r.row.rest) + len(r.records)
	add := func(to *[][]byte, data []byte) {
		*to = append(*to, data)
		r.bytes += len(data)
	}
	r.pages = make([][]byte, 0, len(c.Pages))
	for i := range c.Pages {
		data := c.Pages[i].Data
		if data != nil && sp.db.sums.Load() {
			data = codec.AppendPage(nil, in.ID, in.Created, &c.Pages[i])
		}
		add(&r.pages, data)
	}
	if !in.Status.Final() { // else they would be gone at once
		for i := range c.Calls {
			add(&r.calls, sp.db.value(codec.AppendInvoke(nil, in.ID, in.Created, &c.Calls[i].Invoke)))
		}
		if err := sp.encodeSubs(ctx, ns, r); err != nil {
			return nil, err
		}
	}
	for i := range c.Emits {
		if !storable(c.Emits[i].Definition) {
			return nil, fmt.Errorf("commit instance %s: the definition of an event: %w", c.Instance.ID, store.ErrText)
		}
		add(&r.emits, sp.db.value(codec.AppendEmit(nil, in.ID, &c.Emits[i])))
	}
	for i := range c.Messages {
		if !storable(c.Messages[i].To) {
			return nil, fmt.Errorf("commit instance %s: a message to %q: %w", c.Instance.ID, c.Messages[i].To, store.ErrText)
		}
		add(&r.messages, sp.db.value(codec.AppendInput(nil, &c.Messages[i])))
	}
	for i := range c.Children {
		child := &c.Children[i]
		row, err := sp.encodeRow(ctx, ns, &child.Instance, 1, true)
		if err != nil {
			return nil, err
		}
		r.children = append(r.children, row)
		r.bytes += len(row.rest)
		add(&r.starts, sp.startInput(child))
	}
	return r, nil
}

// startInput is the first message of a new instance.
func (sp *space) startInput(n *store.NewInstance) []byte {
	return sp.db.value(codec.AppendInput(nil, &store.Message{To: n.Instance.ID, At: n.Instance.Created, Input: n.Start}))
}

func (sp *space) encodeSubs(ctx context.Context, ns int32, r *commitRequest) error {
	for i := range r.Subscribe {
		s := &r.Subscribe[i]
		typ := typeOf(s.Filter.Type)
		shape, match := codec.MatchOf(&s.Filter)
		if match != codec.NoMatch {
			if err := sp.learn(ctx, ns, typ, shape); err != nil {
				return fmt.Errorf("commit instance %s: %w", r.Instance.ID, err)
			}
		}
		sub := encodedSub{int64(s.Ticket), typ, match, !s.Filter.Correlated(), []byte(s.Name), sp.db.value(codec.AppendFilter(nil, r.Instance.ID, s))}
		r.bytes += len(sub.filter)
		r.subs = slices.DeleteFunc(r.subs, func(o encodedSub) bool { return o.ticket == sub.ticket }) // the last one counts
		r.subs = append(r.subs, sub)
	}
	return nil
}

// commitColumns are the arguments of the function that writes commits.
type commitColumns struct {
	rowColumns
	numbers                  numbers
	of, count, seq, pos, end []int32
	rev                      []int64
	unread                   []bool
	deployed                 []int64
	needs                    []string // digests, each once
	records                  [][]byte

	pageRow, pagePart []int32
	pageFrame         []int64
	pageData          [][]byte

	takenRow []int32
	taken    []int64
	back     []bool

	answeredRow    []int32
	answered       []int64
	callRow        []int32
	callTicket     []int64
	callShard      []int16
	callEpoch      []int64
	epoch          func(shard int16) int64 // see leases
	callSeq        []int32
	call           [][]byte
	emitRow        []int32
	emitSink       []bool
	emitSeq        []int32
	emitDefinition []string
	emit           [][]byte

	unsubRow                   []int32
	unsub                      []int64
	subRow                     []int32
	subTicket, subTyp, subWant []int64
	subLate                    []bool
	subName, subFilter         [][]byte

	messageRow, messageChild              []int32
	messageTo                             []string
	messageAt, messageEvent, messageReply []int64
	messageSeq                            []int32
	message                               [][]byte
}

// add appends a commit. Numbers are given out in the order in which the reference does.
func (c *commitColumns) add(r *commitRequest) int32 {
	at := c.addRow(r.row, 0, r.Instance.Rev, r.records, len(r.Records))
	c.unread[at-1], c.deployed[at-1] = r.Unread, r.Deployed
	c.addPages(at, r.Pages, r.pages)
	for _, seq := range r.Taken {
		c.takenRow, c.taken, c.back = append(c.takenRow, at), append(c.taken, seq), append(c.back, slices.Contains(r.Release, seq))
	}
	for _, t := range r.Answered {
		c.answeredRow, c.answered = append(c.answeredRow, at), append(c.answered, int64(t))
	}
	for i, data := range r.calls {
		seq, ticket := c.numbers.next(), r.Calls[i].Ticket
		if slices.ContainsFunc(r.Calls[i+1:], func(o store.Call) bool { return o.Ticket == ticket }) {
			continue // the last one counts
		}
		c.callRow, c.callTicket, c.callSeq, c.call = append(c.callRow, at), append(c.callTicket, int64(ticket)), append(c.callSeq, seq), append(c.call, data)
		shard := shardOf(r.Instance.ID)
		if part := r.Calls[i].Part; part != 0 {
			shard = int16(part - 1)
		}
		c.callShard, c.callEpoch = append(c.callShard, shard), append(c.callEpoch, c.epoch(shard))
	}
	for i, data := range r.emits {
		e := &r.Emits[i]
		c.emitRow, c.emitSink, c.emitSeq = append(c.emitRow, at), append(c.emitSink, e.Sink), append(c.emitSeq, c.numbers.next())
		c.emitDefinition, c.emit = append(c.emitDefinition, e.Definition), append(c.emit, data)
	}
	for _, t := range r.Unsubscribe {
		c.unsubRow, c.unsub = append(c.unsubRow, at), append(c.unsub, int64(t))
	}
	for _, s := range r.subs {
		c.subRow, c.subTicket, c.subTyp, c.subWant = append(c.subRow, at), append(c.subTicket, s.ticket), append(c.subTyp, s.typ), append(c.subWant, s.match)
		c.subLate, c.subName, c.subFilter = append(c.subLate, s.late), append(c.subName, s.name), append(c.subFilter, s.filter)
	}
	for i, child := range r.children {
		place := c.addRow(child, at, 0, nil, 0)
		c.addMessage(at, place, child.in.ID, child.in.Created, 0, 0, r.starts[i])
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		c.addMessage(at, 0, m.To, m.At, m.Event, ticketOf(m.Input), r.messages[i])
	}
	c.end[at-1] = c.numbers.next() // behind those who became ready by it
	return at
}

func (c *commitColumns) addRow(r *row, of int32, rev int64, records []byte, count int) int32 {
	c.of, c.rev, c.records, c.count = append(c.of, of), append(c.rev, rev), append(c.records, records), append(c.count, int32(count))
	c.seq, c.pos, c.end = append(c.seq, c.numbers.next()), append(c.pos, c.numbers.next()), append(c.end, 0)
	c.unread, c.deployed = append(c.unread, false), append(c.deployed, 0)
	if r.need != "" && !slices.Contains(c.needs, r.need) {
		c.needs = append(c.needs, r.need)
	}
	return c.rowColumns.add(r)
}

func (c *commitColumns) addPages(at int32, pages []core.Page, data [][]byte) {
	for i, p := range pages {
		if slices.ContainsFunc(pages[i+1:], func(o core.Page) bool { return o.Frame == p.Frame && o.Part == p.Part }) {
			continue // the last one counts
		}
		c.pageRow, c.pageFrame, c.pagePart, c.pageData = append(c.pageRow, at), append(c.pageFrame, int64(p.Frame)), append(c.pagePart, p.Part), append(c.pageData, data[i])
	}
}

func (c *commitColumns) addMessage(at, child int32, to string, when core.Time, event, ticket int64, input []byte) {
	c.messageRow, c.messageChild, c.messageTo = append(c.messageRow, at), append(c.messageChild, child), append(c.messageTo, to)
	c.messageAt, c.messageEvent, c.messageReply = append(c.messageAt, int64(when)), append(c.messageEvent, event), append(c.messageReply, ticket)
	c.messageSeq, c.message = append(c.messageSeq, c.numbers.next()), append(c.message, input)
}

func (c *commitColumns) args(ns int32, token pgtype.UUID) []any {
	out := []any{
		ns, token, int32(c.numbers), list(c.needs),
		c.of, c.id, c.rev, c.unread, c.deployed, c.kind, c.need, c.status, c.created, c.updated, c.ended, c.wake, c.more, c.aside, c.parent, c.fault, c.client, c.state, c.group,
		c.labels, c.owns, c.shard, c.rest, c.records, c.count, c.seq, c.pos, c.end,
		list(c.pageRow), list(c.pageFrame), list(c.pagePart), list(c.pageData), list(c.answeredRow), list(c.answered),
		list(c.callRow), list(c.callTicket), list(c.callSeq), list(c.callShard), list(c.callEpoch), list(c.call),
	}
	if len(c.label)+len(c.owner)+len(c.taken)+len(c.emit)+len(c.unsub)+len(c.subRow)+len(c.message) == 0 {
		return out
	}
	return append(out,
		list(c.labelRow), list(c.label), list(c.labelKind), list(c.labelState), list(c.ownerRow), list(c.owner),
		list(c.takenRow), list(c.taken), list(c.back), list(c.emitRow), list(c.emitSink), list(c.emitSeq), list(c.emitDefinition), list(c.emit),
		list(c.unsubRow), list(c.unsub), list(c.subRow), list(c.subTicket), list(c.subTyp), list(c.subWant), list(c.subLate), list(c.subName), list(c.subFilter),
		list(c.messageRow), list(c.messageChild), list(c.messageTo), list(c.messageAt), list(c.messageEvent), list(c.messageReply), list(c.messageSeq), list(c.message))
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
	c := &commitColumns{epoch: sp.leases.epoch}
	places := make([]int32, len(batch))
	for i, r := range batch {
		places[i] = c.add(r)
	}
	var verdict []int16
	var revs []int64
	var absent []string
	err = sp.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
		revs, absent = nil, nil
		args := c.args(ns, token)
		return sp.db.one(ctx, callCommit(args), args, &verdict, &revs, &absent)
	}, func(result []int16) { verdict = result })
	if errors.Is(err, store.ErrUncertain) {
		sp.doubts.begin() // its calls may be there, and nobody makes them
	}
	if err != nil {
		return err
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

// parts are those that have something to do by it.
func (c *commitColumns) parts() []int16 {
	out := slices.Clone(c.callShard)
	for i, shard := range c.shard {
		if c.wake[i] != nil || c.more[i] {
			out = append(out, shard)
		}
	}
	for _, rows := range [][]int32{c.emitRow, c.subRow} {
		for _, at := range rows {
			out = append(out, c.shard[at-1])
		}
	}
	for _, id := range c.messageTo {
		out = append(out, shardOf(id))
	}
	return out
}

// callCommit is the statement that writes a batch: one round trip. There are two of them.
func callCommit(args []any) string {
	return "SELECT o_verdict, o_rev, o_absent FROM ~.commit_batch(" + parameters(1, len(args)) + ")"
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
	for _, row := range append([]*row{r.row}, r.children...) {
		if row.need != "" && (absent == nil || slices.Contains(absent, row.need)) {
			return fmt.Errorf("commit instance %s: %w", in.ID, &store.NoContentError{Definition: row.in.Definition, Digest: row.need})
		}
	}
	return fmt.Errorf("commit instance %s: a content is not there", in.ID)
}
