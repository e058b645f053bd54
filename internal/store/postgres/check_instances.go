package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// checked is an instance as its row says, with its columns.
type checked struct {
	store.Instance
	kind         int32
	wake, fault  *int64
	more, aside  bool
	shard        int16
	labels, owns int64
}

// instances compares columns with what they are made of, and the rows by which instances
// are found.
func (k *checker) instances() error {
	for after := int64(0); ; {
		var list []checked
		seen := 0
		err := k.each("SELECT "+instanceFields+", i.seq, i.kind, i.wake, i.error, i.more, i.aside, i.shard, i.labels, i.owns FROM ~.instances i JOIN ~.kinds k ON k.kind = i.kind AND k.ns = i.ns "+
			"WHERE i.ns = $1 AND i.seq > $2 ORDER BY i.seq LIMIT $3", func(r pgx.Rows) error {
			var x checked
			var err error
			var rest []byte
			x.Instance, rest, err = readRow(withMore{r, []any{&after, &x.kind, &x.wake, &x.fault, &x.more, &x.aside, &x.shard, &x.labels, &x.owns}})
			seen++
			if rest != nil && err == nil {
				err = codec.DecodeRest(rest, &x.Instance, k.later(rest, x.Seq, x.ID))
			}
			if err != nil {
				k.problems.Add(x.ID, "%v", err)
				return nil
			}
			list = append(list, x)
			return nil
		}, after, checkChunk)
		if err != nil {
			return err
		}
		if err := k.compare(list); err != nil {
			return err
		}
		if seen < checkChunk {
			return k.orphans()
		}
	}
}

// orphans looks for instances whose kind is not there: nothing else reads them.
func (k *checker) orphans() error {
	return k.each("SELECT i.id FROM ~.instances i WHERE i.ns = $1 AND NOT EXISTS (SELECT 1 FROM ~.kinds k WHERE k.kind = i.kind AND k.ns = i.ns)", func(r pgx.Rows) error {
		id := ""
		err := r.Scan(&id)
		k.problems.Add(id, "it is of a kind that is not there")
		return err
	})
}

func (k *checker) compare(list []checked) error {
	var seqs []int64
	for i := range list {
		seqs = append(seqs, list[i].Seq)
	}
	labels, owners := map[int64][]string{}, map[int64][]string{}
	err := k.each("SELECT inst, label::text || ' ' || kind || ' ' || state FROM ~.labels WHERE ns = $1 AND inst = ANY ($2)", collect(labels), seqs)
	if err == nil {
		err = k.each("SELECT inst, key::text FROM ~.owners WHERE ns = $1 AND inst = ANY ($2)", collect(owners), seqs)
	}
	if err != nil {
		return err
	}
	for i := range list {
		x := &list[i]
		want, err := k.s.encodeRow(k.ctx, k.ns, &x.Instance, x.Rev, false, nil)
		if err != nil {
			return err
		}
		if !same(want.Wake, x.wake) || !same(want.Error, x.fault) || x.more != want.More || x.aside != want.Aside ||
			x.shard != want.Shard || x.kind != want.Kind {
			k.problems.Add(x.ID, "its columns are not what its row says")
		}
		var label, owner []string
		for _, l := range want.labels {
			label = append(label, l.text())
		}
		for _, o := range want.owners {
			owner = append(owner, o.text())
		}
		if x.labels != want.Labels || !sameRows(labels[x.Seq], label) {
			k.problems.Add(x.ID, "it is not found by its labels, or by others")
		}
		if x.owns != want.Owns || !sameRows(owners[x.Seq], owner) {
			k.problems.Add(x.ID, "it is not found by its correlation attributes, or by others")
		}
	}
	return nil
}

func collect(into map[int64][]string) func(pgx.Rows) error {
	return func(r pgx.Rows) error {
		inst, text := int64(0), ""
		err := r.Scan(&inst, &text)
		into[inst] = append(into[inst], text)
		return err
	}
}

func same(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

func sameRows(have, want []string) bool {
	slices.Sort(have)
	slices.Sort(want)
	return slices.Equal(have, slices.Compact(want))
}
