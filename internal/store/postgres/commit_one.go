package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// commitOneFunction writes a commit that is alone and plain.
var commitOneFunction = describe[commitOneArgs]("SELECT o_verdict, o_rev FROM ", "commit_one")

// commitOneArgs are its arguments.
type commitOneArgs struct {
	NS    int32
	Token pgtype.UUID

	Row      stepRow  `sql:"r_"`
	Pages    []page   `sql:"p_"`
	Answered []ticket `sql:"a_"`
	Calls    []call   `sql:"k_"`

	Gone        []gonePage  `sql:"d_,rare"`
	Labels      []label     `sql:"l_,rare"`
	Owners      []owner     `sql:"o_,rare"`
	Taken       []takenMail `sql:"t_,rare"`
	Unsubscribe []ticket    `sql:"u_,rare"`
	Subscribe   []sub       `sql:"s_,rare"`
}

type gonePage struct {
	Frame int64
	Part  int32
}

// ticket is one that is answered, or that nothing is waited for any more.
type ticket struct{ Ticket int64 }

type takenMail struct{ Seq int64 }

func ticketsOf(list []core.Ticket) (out []ticket) {
	for _, t := range list {
		out = append(out, ticket{int64(t)})
	}
	return out
}

// plainCalls is how many calls a plain commit has at most: its numbers are of one block.
const plainCalls = 1000

// plain reports whether a commit has nothing but what commit_one writes.
func (r *commitRequest) plain() bool {
	return r.small() && (r.Instance.Rev == 0 || r.Deployed == 0 && r.row.Need == "")
}

// small reports whether commit_one writes the rows of a commit.
func (r *commitRequest) small() bool {
	return len(r.children) == 0 && len(r.emits) == 0 && len(r.messages) == 0 && len(r.Release) == 0 && len(r.calls) <= plainCalls
}

// oneArgs are the arguments for a plain commit.
func (r *commitRequest) oneArgs(ns int32, epoch func(shard int16) int64) *commitOneArgs {
	c := &commitOneArgs{NS: ns, Row: r.step(), Answered: ticketsOf(r.Answered), Unsubscribe: ticketsOf(r.Unsubscribe), Subscribe: r.subs, Labels: r.row.labels, Owners: r.row.owners}
	numbers := numbers(2) // the first are those of the instance and of its place in the feed
	for _, p := range r.pages {
		if p.Data == nil {
			c.Gone = append(c.Gone, gonePage{p.Frame, p.Part})
		} else {
			c.Pages = append(c.Pages, p)
		}
	}
	for _, k := range r.calls {
		k.Seq, k.Epoch = numbers.next(), epoch(k.Shard)
		c.Calls = append(c.Calls, k)
	}
	c.Row.Turn = numbers.next()
	for _, seq := range r.Taken {
		c.Taken = append(c.Taken, takenMail{seq})
	}
	return c
}

// parts are those that have something to do by a small commit.
func (r *commitRequest) parts() (out []int16) {
	if r.row.Wake != nil || r.row.More || len(r.subs) > 0 {
		out = append(out, r.row.Shard)
	}
	for i := range r.calls {
		out = append(out, r.calls[i].Shard)
	}
	return out
}

// writeOne writes a plain commit and finishes it, unless it fails.
func (sp *space) writeOne(ctx context.Context, ns int32, r *commitRequest) error {
	c := r.oneArgs(ns, sp.leases.epoch)
	var verdict int16
	var rev int64
	err := sp.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
		c.Token = token
		call, args := commitOneFunction.call(c)
		return sp.db.first(ctx, call, args, &verdict, &rev)
	}, func(result []int16) { verdict, rev = result[0], -1 })
	if err != nil {
		return sp.doubt(err)
	}
	r.finish(r.verdict(verdict, rev, nil))
	sp.wrote(r.parts()...)
	sp.foldSometimes(ctx)
	return nil
}
