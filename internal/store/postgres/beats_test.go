package postgres

import (
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestManyBeats: heartbeats leave nothing behind, however many: each takes the place of an earlier one. While
// somebody's old transaction keeps what is dead, each leaves its row, and no more than that.
func TestManyBeats(t *testing.T) {
	url := pgtestURL(t)
	s := openURL(t, url, Options{}).Namespace("x").(*Store)
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	calls := []int{}
	m := store.Member{Name: "one.example.com", Version: "1.0.0", Address: "10.0.0.1:8081", Calls: func() []int { return calls }}
	n := &node{Store: s, id: newToken(), ns: ns, member: m, beats: line{db: s.db}}
	s.leases.join(n.id)
	defer n.beats.close()
	look := admin(t, url)
	beat := func(count int) (size int64) {
		t.Helper()
		for i := range count {
			calls = slices.Repeat([]int{1}, i%3)
			if _, err := n.beat(ctx, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.beats.do(ctx, "SELECT pg_stat_force_next_flush()"); err != nil {
			t.Fatal(err)
		}
		return ask1[int64](t, look, "SELECT pg_relation_size('lockstep.nodes')")
	}
	const beats, page, row = 1500, 8192, 136
	if size := beat(beats); size > page {
		t.Errorf("%d bytes after %d heartbeats", size, beats)
	}
	if moved := ask1[int64](t, look, "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'nodes'"); moved != 0 {
		t.Errorf("%d rows went to another page", moved)
	}
	other := admin(t, url)
	for _, statement := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM lockstep.instances"} {
		if _, err := other.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if size := beat(beats); size < 2*page || size > page+beats*row {
		t.Errorf("%d bytes after %d heartbeats beside an old transaction", size, beats)
	}
}
