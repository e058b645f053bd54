package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// commitFunction writes a batch of commits.
var commitFunction = describe[commitArgs]("SELECT o_verdict, o_rev, o_absent FROM ", "commit_batch")

// commitArgs are the arguments of the function that writes commits. Row is the place of the instance that
// a row belongs to among Rows, from 1. What most commits have nothing of is rare: to read an empty argument
// costs the database something, too.
type commitArgs struct {
	NS      int32
	Token   pgtype.UUID
	Numbers numbers
	Needs   []string // digests, each once

	Rows     []commitRow `sql:"r_"`
	Pages    []pageRow   `sql:"p_"`
	Answered []ticketRow `sql:"a_"`
	Calls    []callRow   `sql:"k_"`

	Labels      []labelRow   `sql:"l_,rare"`
	Owners      []ownerRow   `sql:"o_,rare"`
	Taken       []takenRow   `sql:"t_,rare"`
	Emits       []emitRow    `sql:"e_,rare"`
	Unsubscribe []ticketRow  `sql:"u_,rare"`
	Subscribe   []subRow     `sql:"s_,rare"`
	Messages    []messageRow `sql:"m_,rare"`
}

// commitRow is an instance of a commit: the one that advanced, or a child that it started.
type commitRow struct {
	stepRow
	Of       int32 // the place of the parent that starts it; 0: it advanced
	Seq, Pos int32 // offsets, as Turn
}

// stepRow is an instance that advanced.
type stepRow struct {
	instanceRow
	Rev, Deployed int64
	Unread        bool
	Records       []byte // nil: none
	Count         int32  // of records
	Turn          int32  // an offset of the numbers that the transaction gives out
}

type pageRow struct {
	Row int32
	page
}

type page struct {
	Frame int64
	Part  int32
	Data  []byte // nil: the page goes
}

type ticketRow struct {
	Row    int32
	Ticket int64
}

type callRow struct {
	Row int32
	call
}

type call struct {
	Seq           int32
	Ticket, Epoch int64
	Shard         int16
	Call          []byte
}

type takenRow struct {
	Row  int32
	Seq  int64
	Back bool // its event goes back
}

type emitRow struct {
	Row, Seq   int32
	Sink       bool
	Definition string
	Event      []byte
}

type subRow struct {
	Row int32
	sub
}

type sub struct {
	Ticket, Typ, Match int64
	Late               bool // it gets nothing that came before its instance
	Name, Filter       []byte
}

type messageRow struct {
	Row, Seq          int32
	Child             int32 // the place of a child that it starts; 0: it is for another instance
	To                string
	At, Event, Ticket int64
	Input             []byte
}

// add appends a commit, and returns the place of its instance. Numbers are given out in the order in which
// the reference does.
func (c *commitArgs) add(r *commitRequest, epoch func(shard int16) int64) int32 {
	at := c.addRow(r.row, commitRow{stepRow: r.step()})
	for _, p := range r.pages {
		c.Pages = append(c.Pages, pageRow{at, p})
	}
	for _, seq := range r.Taken {
		c.Taken = append(c.Taken, takenRow{Row: at, Seq: seq, Back: slices.Contains(r.Release, seq)})
	}
	for _, t := range r.Answered {
		c.Answered = append(c.Answered, ticketRow{Row: at, Ticket: int64(t)})
	}
	for _, k := range r.calls {
		k.Seq, k.Epoch = c.Numbers.next(), epoch(k.Shard)
		c.Calls = append(c.Calls, callRow{at, k})
	}
	for _, e := range r.emits {
		e.Row, e.Seq = at, c.Numbers.next()
		c.Emits = append(c.Emits, e)
	}
	for _, t := range r.Unsubscribe {
		c.Unsubscribe = append(c.Unsubscribe, ticketRow{Row: at, Ticket: int64(t)})
	}
	for _, s := range r.subs {
		c.Subscribe = append(c.Subscribe, subRow{at, s})
	}
	for _, child := range r.children {
		place := c.addRow(child.row, commitRow{Of: at})
		c.addMessage(at, messageRow{Child: place, To: child.row.ID, At: child.row.Created, Input: child.input})
	}
	for _, m := range r.messages {
		c.addMessage(at, m)
	}
	c.Rows[at-1].Turn = c.Numbers.next() // behind those who became ready by it
	return at
}

// step is the row of the instance that advanced, but for its turn.
func (r *commitRequest) step() stepRow {
	return stepRow{instanceRow: r.row.instanceRow, Rev: r.Instance.Rev, Unread: r.Unread, Deployed: r.Deployed, Records: r.records, Count: int32(len(r.Records))}
}

// addRow appends an instance, and returns its place.
func (c *commitArgs) addRow(r *row, as commitRow) int32 {
	as.instanceRow = r.instanceRow
	as.Seq = c.Numbers.next()
	as.Pos = c.Numbers.next()
	c.Rows = append(c.Rows, as)
	if r.Need != "" && !slices.Contains(c.Needs, r.Need) {
		c.Needs = append(c.Needs, r.Need)
	}
	at := int32(len(c.Rows))
	labels, owners := r.searchRows(at)
	c.Labels = append(c.Labels, labels...)
	c.Owners = append(c.Owners, owners...)
	return at
}

func (c *commitArgs) addMessage(at int32, m messageRow) {
	m.Row, m.Seq = at, c.Numbers.next()
	c.Messages = append(c.Messages, m)
}

// parts are those that have something to do by it.
func (c *commitArgs) parts() (out []int16) {
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Wake != nil || r.More {
			out = append(out, r.Shard)
		}
	}
	for i := range c.Calls {
		out = append(out, c.Calls[i].Shard)
	}
	for i := range c.Emits {
		out = append(out, c.Rows[c.Emits[i].Row-1].Shard)
	}
	for i := range c.Subscribe {
		out = append(out, c.Rows[c.Subscribe[i].Row-1].Shard)
	}
	for i := range c.Messages {
		out = append(out, shardOf(c.Messages[i].To))
	}
	return out
}
