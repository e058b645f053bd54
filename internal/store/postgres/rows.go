package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// row is an instance as it is stored.
type row struct {
	in     *store.Instance
	kind   int32
	need   string // the digest of a content that must be there; "": none
	status int16
	wake   *int64
	fault  *int64
	rest   []byte

	labels []labelRow
	owners []int64
}

type labelRow struct {
	label int64
	kind  int32
	state string
}

// encodeRow makes the columns of an instance as it will be at a revision. needed: it is a new
// one, whose content must be there.
func (sp *space) encodeRow(ctx context.Context, ns int32, in *store.Instance, rev int64, needed bool) (*row, error) {
	status, ok := codec.StatusCode(in.Status)
	if !ok {
		return nil, fmt.Errorf("instance %s: there is no status %q", in.ID, in.Status)
	}
	if err := in.CheckText(); err != nil {
		return nil, err
	}
	if len(in.ID) > maxName || len(in.Parent) > maxName {
		return nil, fmt.Errorf("instance %.40q…: its id has more than %d bytes (\"name-bytes\")", in.ID, maxName)
	}
	kind, err := sp.kind(ctx, ns, in)
	if err != nil {
		return nil, err
	}
	r := &row{in: in, kind: kind, status: int16(status), rest: sp.db.value(codec.AppendRest(nil, in, rev))}
	if needed {
		r.need = in.Digest
	}
	if in.HasWake && in.Quarantine == "" {
		at := int64(in.Wake)
		r.wake = &at
	}
	if in.Fault != nil && in.Fault.Name != "" {
		f := codec.SumOf(in.Fault.Name)
		r.fault = &f
	}
	for _, label := range labelKeys(in.Labels) {
		r.labels = append(r.labels, labelRow{label: label})
		if in.Job.State != "" {
			r.labels = append(r.labels, labelRow{label, kind, in.Job.State})
		}
	}
	if !in.Status.Final() {
		for _, k := range in.Keys {
			r.owners = append(r.owners, ownerKey(in.Definition, k))
		}
	}
	return r, sp.learnState(ctx, ns, kind, &in.Job)
}

// maxName is how long an id may be ("name-bytes"): it must fit into an index.
const maxName = 1024

// labelSum and ownerSum tell whether the rows that belong to an instance changed.
func (r *row) labelSum() int64 {
	if len(r.labels) == 0 {
		return 0
	}
	h := codec.NewSum
	for _, l := range r.labels {
		h = h.Text(fmt.Sprint(l.label, " ", l.kind, " ", l.state))
	}
	return h.Column()
}

func (r *row) ownerSum() int64 {
	if len(r.owners) == 0 {
		return 0
	}
	h := codec.NewSum
	for _, k := range r.owners {
		h = h.Text(fmt.Sprint(k))
	}
	return h.Column()
}

// rowColumns are the columns of several rows, each an argument of a function.
type rowColumns struct {
	id, need                []string
	kind                    []int32
	status, shard           []int16
	created, updated, ended []int64
	wake, fault             []*int64
	more, aside             []bool
	parent, client          []pgtype.Text
	state, group            []pgtype.Text
	labels, owns            []int64
	rest                    [][]byte

	labelRow, ownerRow []int32
	label, owner       []int64
	labelKind          []int32
	labelState         []string
}

func optional(s string) pgtype.Text { return pgtype.Text{String: s, Valid: s != ""} }

// add appends a row and returns its place, from 1.
func (c *rowColumns) add(r *row) int32 {
	in := r.in
	c.id, c.need, c.kind, c.status = append(c.id, in.ID), append(c.need, r.need), append(c.kind, r.kind), append(c.status, r.status)
	c.created, c.updated, c.ended = append(c.created, int64(in.Created)), append(c.updated, int64(in.Updated)), append(c.ended, int64(in.Ended))
	c.wake, c.fault, c.shard = append(c.wake, r.wake), append(c.fault, r.fault), append(c.shard, shardOf(in.ID))
	c.more, c.aside = append(c.more, in.More), append(c.aside, in.Quarantine != "")
	c.parent = append(c.parent, optional(in.Parent))
	job := in.Job.State != ""
	c.client = append(c.client, pgtype.Text{String: in.Job.Client, Valid: job || in.Job.Client != ""})
	c.state, c.group = append(c.state, optional(in.Job.State)), append(c.group, pgtype.Text{String: in.Job.Group, Valid: job})
	c.labels, c.owns, c.rest = append(c.labels, r.labelSum()), append(c.owns, r.ownerSum()), append(c.rest, r.rest)
	place := int32(len(c.id))
	for _, l := range r.labels {
		c.labelRow, c.label, c.labelKind, c.labelState = append(c.labelRow, place), append(c.label, l.label), append(c.labelKind, l.kind), append(c.labelState, l.state)
	}
	for _, k := range r.owners {
		c.ownerRow, c.owner = append(c.ownerRow, place), append(c.owner, k)
	}
	return place
}

// numbers counts offsets of numbers that a transaction gives out.
type numbers int32

func (n *numbers) next() int32 {
	*n++
	return int32(*n - 1)
}

// ticketOf is the ticket that a message answers.
func ticketOf(in core.Input) int64 {
	if reply, ok := in.(core.Reply); ok {
		return int64(reply.Ticket)
	}
	return 0
}

// list makes an argument of what may be nil: NULL is no empty array.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
