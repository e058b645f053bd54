package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestSmallStatesAreInTheRow: while a state is small its pages cost no row; once it grew, and for good, each has one. Readers
// see no difference.
func TestSmallStatesAreInTheRow(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	rev, want := int64(0), map[core.FrameID][]byte{}
	commit := func(pages ...core.Page) {
		t.Helper()
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Rev: rev, Status: core.Waiting}, Pages: pages}); err != nil {
			t.Fatal(err)
		}
		rev++
		for _, p := range pages {
			if want[p.Frame] = p.Data; p.Data == nil {
				delete(want, p.Frame)
			}
		}
	}
	sees := func(rows int64) {
		t.Helper()
		list, err := s.Pages(ctx, "a")
		if err != nil || len(list) != len(want) || slices.ContainsFunc(list, func(p core.Page) bool { return !bytes.Equal(p.Data, want[p.Frame]) }) {
			t.Errorf("revision %d: it has %v, want %v: %v", rev, list, want, err)
		}
		err = db.read(ctx, func(c *conn) error {
			if n, _, err := c.number("SELECT count(*) FROM pages"); err != nil || n != rows {
				return fmt.Errorf("%d rows, want %d: %w", n, rows, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("revision %d: %v", rev, err)
		}
		sound(t, s)
	}
	page := func(frame core.FrameID, size int) core.Page {
		return core.Page{Frame: frame, Data: bytes.Repeat([]byte{byte(rev + 10)}, size)}
	}
	commit(page(0, 100), page(2, 10))
	sees(0)
	commit(page(1, inRowBytes-200), core.Page{Frame: 2})
	sees(0)
	db.writer.heads.clear() // as after a restart
	commit(page(0, 200))
	sees(0)
	commit()
	sees(0)
	commit(page(2, 1))
	sees(3)
	commit(core.Page{Frame: 1}, core.Page{Frame: 2})
	sees(1)
	if err := s.DeleteInstance(ctx, "a", store.Deletion{Live: true}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(ctx, store.Query{}); n != 0 || err != nil {
		t.Error(n, err)
	}
	sound(t, s)
}

// TestDamagedStateStays: a commit that changes a page of a state which cannot be read does not hide the damage; one that
// removes its first page removes all of it.
func TestDamagedStateStays(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	commit := func(rev int64, pages ...core.Page) error {
		return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Rev: rev, Status: core.Waiting}, Pages: pages})
	}
	if err := commit(0, core.Page{Data: []byte("head")}, core.Page{Frame: 1, Data: []byte("frame")}); err != nil {
		t.Fatal(err)
	}
	tables{t, db}.do(func(x *tx) error {
		_, err := x.exec("UPDATE instances SET pages = CAST(substr(pages, 1, 5) || x'07' || substr(pages, 7) AS BLOB)")
		return err
	})
	db.writer.heads.clear() // as after a rollback
	if err := commit(1, core.Page{Data: []byte("later")}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a step: %v", err)
	}
	list, err := s.Pages(ctx, "a")
	if !errors.Is(err, store.ErrDamaged) || len(list) != 1 {
		t.Errorf("%d pages, %v", len(list), err)
	}
	if err := commit(1); err != nil {
		t.Errorf("setting it aside: %v", err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) != 1 {
		t.Errorf("the check: %v, %v", problems, err)
	}
	if err := commit(2, core.Page{Frame: list[0].Frame, Part: list[0].Part}); err != nil {
		t.Errorf("giving it up: %v", err)
	}
	sound(t, s)
}

// TestSmallStatesReferToLargeValues: what a state in the row refers to is read with it, also after other pages changed, once
// it is in the tables, and where it is damaged.
func TestSmallStatesReferToLargeValues(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	records := []core.Record{{Type: core.RecStarted, Data: expr.String(strings.Repeat("x", core.ChunkBytes)), HasData: true}}
	chunks := new(core.State).Tell(core.ChunkBytes, records, 1)
	ref := core.ChunkAt(1, 0)
	row := store.Instance{ID: "a", Status: core.Waiting}
	commit := func(c store.Commit) {
		t.Helper()
		c.Instance = row
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
		row.Rev++
		row.Records = 1
		db.writer.heads.clear() // as after a restart
	}
	sees := func(apart int64, pages int) {
		t.Helper()
		list, err := s.Pages(ctx, "a")
		if err != nil || len(list) != pages+1 || list[pages].Chunk != ref || !bytes.Equal(list[pages].Data, chunks.Fresh[0]) {
			t.Errorf("revision %d: %d pages, %v", row.Rev, len(list), err)
		}
		if states, _, err := s.States(ctx, []string{"a"}); err != nil || len(states[0].Pages) != pages+1 || states[0].Damaged != nil {
			t.Errorf("revision %d: states %v, %v", row.Rev, states, err)
		}
		err = db.read(ctx, func(c *conn) error {
			if n, _, err := c.number("SELECT count(*) FROM pages"); err != nil || n != apart {
				return fmt.Errorf("%d rows, want %d: %w", n, apart, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("revision %d: %v", row.Rev, err)
		}
		sound(t, s)
	}
	commit(store.Commit{Records: records, Chunks: chunks, Pages: []core.Page{{Data: append(core.AppendChunkRefs([]byte{2}, []core.ChunkRef{ref}), "head"...)}}})
	sees(0, 1)
	commit(store.Commit{Pages: []core.Page{{Frame: 1, Data: []byte("frame")}}})
	sees(0, 2)

	change := func(query string) {
		t.Helper()
		tables{t, db}.do(func(x *tx) error {
			_, err := x.exec(query)
			return err
		})
	}
	change("UPDATE history SET told = told + 1")
	list, err := s.Pages(ctx, "a")
	if !errors.Is(err, store.ErrDamaged) || len(list) != 2 {
		t.Errorf("where it is missing: %d pages, %v", len(list), err)
	}
	if problems, err := s.Check(ctx); err != nil || !slices.ContainsFunc(problems, func(p store.Problem) bool {
		return strings.Contains(p.Text, "a large value to which it refers is missing")
	}) {
		t.Errorf("the check: %v, %v", problems, err)
	}
	change("UPDATE history SET told = told - 1")
	commit(store.Commit{Pages: []core.Page{{Frame: 2, Data: bytes.Repeat([]byte{9}, inRowBytes)}}})
	sees(3, 3)
}
