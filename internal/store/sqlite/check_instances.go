package sqlite

import (
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// checked is an instance as its row says, with its columns.
type checked struct {
	store.Instance
	row         encodedRow
	kind, lane  int64
	client      string
	more, aside bool
	place       any
}

// instances compares columns with what they are made of.
func (k *checker) instances() error {
	lanes, err := k.lanes()
	if err != nil {
		return err
	}
	labels, damaged := int64(0), false // labels: that there must be
	for after := int64(0); ; {
		list, last, whole, err := k.rows(after)
		if err != nil {
			return err
		}
		if last == after {
			break
		}
		after, damaged = last, damaged || !whole
		for i := range list {
			if err := k.instance(&list[i], lanes); err != nil {
				return err
			}
			f := foundOf(&list[i].Instance)
			labels += int64(len(f.rows()))
		}
	}
	n, _, err := k.number("SELECT count(*) FROM labels WHERE ns = ?", k.s.ns)
	if err == nil && !damaged && n > labels {
		k.problems.Add("labels", "%d of them lead to instances that do not have them, or are elsewhere", n-labels)
	}
	return err
}

// rows reads some instances, up to the last one; whole is false where one cannot be read.
func (k *checker) rows(after int64) (list []checked, last int64, whole bool, err error) {
	last, whole = after, true
	names := k.s.db.names(k.c)
	err = k.query(
		"SELECT seq, id, kind, status, rest, wake, error, more, aside, lane, client, rev, created, updated, ended, parent, place FROM instances NOT INDEXED WHERE ns = ? AND seq > ? ORDER BY seq LIMIT 500",
		func(r row) error {
			last = r.ColumnInt64(0)
			x := checked{kind: r.ColumnInt64(2), more: !r.ColumnIsNull(7), aside: !r.ColumnIsNull(8), lane: r.ColumnInt64(9), client: r.ColumnText(10)}
			x.row.err = r.ColumnText(6)
			if !r.ColumnIsNull(5) {
				x.row.wake = r.ColumnInt64(5)
			}
			if !r.ColumnIsNull(16) {
				x.place = r.ColumnInt64(16)
			}
			kind := names(x.kind)
			x.Instance = store.Instance{
				Seq: last, ID: r.ColumnText(1), Rev: r.ColumnInt64(11), Definition: kind.definition, Version: kind.version, Digest: kind.digest, Status: codec.StatusOf(r.ColumnInt64(3)),
				Created: core.Time(r.ColumnInt64(12)), Updated: core.Time(r.ColumnInt64(13)), Ended: core.Time(r.ColumnInt64(14)), Parent: r.ColumnText(15),
			}
			if err := codec.DecodeRest(blob(r, 4), &x.Instance, k.c.chunks(x.Seq, x.ID)); err != nil {
				k.problems.Add(x.ID, "its row cannot be read: %v", err)
				whole = false
				return nil
			}
			x.Held = x.aside && x.Quarantine == ""
			list = append(list, x)
			return nil
		}, k.s.ns, after)
	return list, last, whole, err
}

func (k *checker) instance(x *checked, lanes map[int64]lane) error {
	want, err := encodeRow(nil, &x.Instance, x.Rev, nil)
	if err != nil {
		return err
	}
	if want.wake != x.row.wake || want.err != x.row.err || x.more != x.More || x.aside != x.Aside() || x.client != x.Job.Client {
		k.problems.Add(x.ID, "its columns are not what its row says")
	}
	if x.place != severalPlaces && x.place != placeOf(&x.Instance) {
		k.problems.Add(x.ID, "it is not found by its state")
	}
	switch place, known := lanes[x.lane]; {
	case x.Job.State == "" && x.lane != noLane:
		k.problems.Add(x.ID, "it is found as a job, and is none")
	case x.Job.State != "" && (!known || place != lane{k.s.ns, x.kind, x.Job.State, x.Job.Group}):
		k.problems.Add(x.ID, "it is not found by its state %q", x.Job.State)
	}
	kind := k.s.db.names(k.c)(x.kind)
	if kind.ns != k.s.ns {
		k.problems.Add(x.ID, "it is of the kind %d, which is not there", x.kind)
		return nil
	}
	return k.found(&x.Instance, kind.definition, x.lane)
}

// lanes reads them, and counts again.
func (k *checker) lanes() (map[int64]lane, error) {
	out := map[int64]lane{}
	err := k.query("SELECT lane, ns, kind, state, grp, n, (SELECT count(*) FROM instances i WHERE i.ns = lanes.ns AND i.lane = lanes.lane) FROM lanes WHERE ns = ?", func(r row) error {
		out[r.ColumnInt64(0)] = readLane(r)
		if r.ColumnInt64(5) != r.ColumnInt64(6) {
			k.problems.Add("lanes", "in state %q of kind %d there are %d jobs, not %d", r.ColumnText(3), r.ColumnInt64(2), r.ColumnInt64(6), r.ColumnInt64(5))
		}
		return nil
	}, k.s.ns)
	return out, err
}

// found says whether an instance is found by its labels, its client and its keys.
func (k *checker) found(in *store.Instance, definition string, lane int64) error {
	var keys []core.Key
	if !in.Status.Final() {
		keys = in.Keys
	}
	for _, key := range keys {
		n, _, err := k.number("SELECT count(*) FROM owners WHERE ns = ? AND definition = ? AND name = ? AND value = ? AND inst = ?", k.s.ns, definition, key.Name, key.Value, in.Seq)
		if err != nil {
			return err
		}
		if n != 1 {
			k.problems.Add(in.ID, "it is not found by its correlation attribute %q", key.Name)
		}
	}
	f := foundOf(in)
	for _, l := range f.rows() {
		n, _, err := k.number("SELECT count(*) FROM labels WHERE ns = ? AND name = ? AND text = ? AND lane = ? AND inst = ?", k.s.ns, l.Name, l.Value, lane, in.Seq)
		if err != nil {
			return err
		}
		if n != 1 {
			k.problems.Add(in.ID, "it is not found by its label %q (%q)", l.Name, l.Value)
		}
	}
	return nil
}
