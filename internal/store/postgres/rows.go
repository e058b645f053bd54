package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// row is an instance as it is stored, with its rows in the tables that are searched.
type row struct {
	instanceRow
	in     *store.Instance
	labels []label
	owners []owner
}

// instanceRow has the columns of an instance that every write of it sets.
type instanceRow struct {
	ID                         string
	Need                       string // the digest of a content that must exist; "": none
	Kind                       int32
	Status, Shard              int16
	Created, Updated, Ended    int64
	Wake, Error                *int64
	More, Aside                bool
	Parent, Client, State, Grp pgtype.Text
	Labels, Owns               int64 // hashes of its rows in those tables
	Rest                       []byte
}

// labelRow is a label of the instance that is the Row-th of a call, from 1.
type labelRow struct {
	Row int32
	label
}

type label struct {
	Label int64
	Kind  int32
	State string
}

func (l label) text() string { return fmt.Sprint(l.Label, " ", l.Kind, " ", l.State) }

// ownerRow is a correlation key of the instance that is the Row-th of a call, from 1.
type ownerRow struct {
	Row int32
	owner
}

type owner struct{ Key int64 }

func (o owner) text() string { return fmt.Sprint(o.Key) }

// encodeRow encodes the columns of an instance for the revision that it will have. needed: the
// instance is new, and its content must exist.
func (sp *space) encodeRow(ctx context.Context, ns int32, in *store.Instance, rev int64, needed bool, chunks *core.Chunks) (*row, error) {
	status, ok := codec.StatusCode(in.Status)
	if !ok {
		return nil, fmt.Errorf("instance %s: unknown status %q", in.ID, in.Status)
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
	job := in.Job.State != ""
	r := &row{in: in, instanceRow: instanceRow{
		ID:      in.ID,
		Kind:    kind,
		Status:  int16(status),
		Created: int64(in.Created),
		Updated: int64(in.Updated),
		Ended:   int64(in.Ended),
		More:    in.More,
		Aside:   in.Aside(),
		Parent:  optional(in.Parent),
		Client:  pgtype.Text{String: in.Job.Client, Valid: job || in.Job.Client != ""},
		State:   optional(in.Job.State),
		Grp:     pgtype.Text{String: in.Job.Group, Valid: job},
		Shard:   shardOf(in.ID),
		Rest:    codec.AppendRest(nil, in, rev, chunks),
	}}
	if needed {
		r.Need = in.Digest
	}
	if in.HasWake && !in.Aside() {
		at := int64(in.Wake)
		r.Wake = &at
	}
	if in.Fault != nil && in.Fault.Name != "" {
		f := codec.SumOf(in.Fault.Name)
		r.Error = &f
	}
	for _, key := range labelKeys(in) {
		r.labels = append(r.labels, label{Label: key})
		if job {
			r.labels = append(r.labels, label{Label: key, Kind: kind, State: in.Job.State})
		}
	}
	if !in.Status.Final() {
		for _, k := range in.Keys {
			r.owners = append(r.owners, owner{ownerKey(in.Definition, k)})
		}
	}
	r.Labels = sumOf(r.labels, label.text)
	r.Owns = sumOf(r.owners, owner.text)
	return r, sp.learnState(ctx, ns, kind, &in.Job)
}

// maxName is how long an id may be ("name-bytes"): it must fit into an index.
const maxName = 1024

// sumOf is a hash of an instance's rows in another table, stored to see whether they changed.
// 0: there are none.
func sumOf[T any](rows []T, text func(T) string) int64 {
	if len(rows) == 0 {
		return 0
	}
	h := codec.NewSum
	for _, r := range rows {
		h = h.Text(text(r))
	}
	return h.Column()
}

// searchRows returns the label and owner rows of an instance that is the at-th of a call.
func (r *row) searchRows(at int32) (labels []labelRow, owners []ownerRow) {
	for _, l := range r.labels {
		labels = append(labels, labelRow{at, l})
	}
	for _, o := range r.owners {
		owners = append(owners, ownerRow{at, o})
	}
	return labels, owners
}

func optional(s string) pgtype.Text { return pgtype.Text{String: s, Valid: s != ""} }

// numbers counts the sequence numbers that a transaction uses, as offsets from its first.
type numbers int32

func (n *numbers) next() int32 {
	*n++
	return int32(*n - 1)
}

// ticketOf is the ticket that a message answers; 0: none.
func ticketOf(in core.Input) int64 {
	if reply, ok := in.(core.Reply); ok {
		return int64(reply.Ticket)
	}
	return 0
}

// list returns an empty slice for nil, which pgx would send as NULL instead of an empty array.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
