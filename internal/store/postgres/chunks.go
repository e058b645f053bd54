package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// chunkSchema is from which schema on records, states and outputs may refer to large values that are stored once.
const chunkSchema = 34

// Chunks reports whether all servers can read chunks.
func (s *Store) Chunks() bool { return s.db.since.Load() >= chunkSchema }

// chunks reads the large values of an instance from its history. q must not be busy with another query.
func (db *DB) chunks(ctx context.Context, q querier, inst int64, id string) *codec.ChunkSource {
	return &codec.ChunkSource{Rows: func(told []int64, row func(codec.Told, []byte) error) error {
		return db.each(ctx, q, "SELECT told, at, status, records FROM ~.history WHERE inst = $1 AND told = ANY ($2) AND records IS NOT NULL", []any{inst, told}, func(r pgx.Rows) error {
			of := codec.Told{Instance: id}
			var status int16
			var records []byte
			if err := r.Scan(&of.Total, &of.At, &status, &records); err != nil {
				return err
			}
			of.Status = codec.StatusOf(int64(status))
			return row(of, records)
		})
	}}
}

// chunksOf is chunks for an instance whose number is not known.
func (db *DB) chunksOf(ctx context.Context, q querier, ns int32, id string, created core.Time) *codec.ChunkSource {
	return &codec.ChunkSource{Rows: func(told []int64, row func(codec.Told, []byte) error) error {
		inst := int64(0)
		err := db.oneOf(ctx, q, "SELECT seq FROM ~.instances WHERE id = $1 AND ns + 0 = $2 AND created = $3", []any{id, ns, int64(created)}, &inst)
		if errors.Is(err, pgx.ErrNoRows) {
			return nobody(id)
		}
		if err != nil {
			return err
		}
		return db.chunks(ctx, q, inst, id).Rows(told, row)
	}}
}

// largeOutput reads an output that refers to chunks. rest is that of the instance; nil: it is read already.
func (db *DB) largeOutput(ctx context.Context, q querier, in *store.Instance, rest []byte) error {
	if rest == nil {
		return nil
	}
	return damagedRow(in.ID, codec.DecodeRest(rest, in, db.chunks(ctx, q, in.Seq, in.ID)))
}
