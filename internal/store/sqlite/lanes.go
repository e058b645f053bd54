package sqlite

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// lane is where a job is: a state of what it is an instance of.
type lane struct {
	ns, kind     int64
	state, group string
}

// noLane is the lane of whatever is no job.
const noLane = 0

// lanes are all of them, in memory, with how many jobs are in each. There are as many as
// states of deployed definitions.
type lanes struct {
	byRow   map[lane]int64
	rows    map[int64]lane
	bySpace map[int64][]int64 // by namespace; in order
	counts  map[int64]int64
	last    int64
}

func newLanes() lanes {
	return lanes{byRow: map[lane]int64{}, rows: map[int64]lane{}, bySpace: map[int64][]int64{}, counts: map[int64]int64{}}
}

func (l *lanes) add(n int64, row lane) {
	l.byRow[row], l.rows[n] = n, row
	l.bySpace[row.ns] = append(l.bySpace[row.ns], n)
	l.last = max(l.last, n)
}

func (l *lanes) count(n, add int64) {
	if l.counts[n] += add; l.counts[n] == 0 {
		delete(l.counts, n)
	}
}

// laneOf numbers where an instance is.
func (t *tx) laneOf(sp *space, kind int64, job store.Job) (int64, error) {
	if job.State == "" {
		return noLane, nil
	}
	row := lane{sp.ns, kind, job.State, job.Group}
	known := &t.w.db.lanes // only the writer changes it
	if n, ok := known.byRow[row]; ok {
		return n, nil
	}
	if n, ok := t.lanes[row]; ok {
		return n, nil
	}
	n := known.last + int64(len(t.lanes)) + 1
	if _, err := t.exec("INSERT INTO lanes (lane, ns, kind, state, grp, n) VALUES (?, ?, ?, ?, ?, 0)", n, row.ns, row.kind, row.state, row.group); err != nil {
		return 0, err
	}
	t.lanes[row] = n
	t.then(func() { known.add(n, row) })
	return n, nil
}

// countLane counts a job in or out.
func (t *tx) countLane(lane, n int64) {
	if lane != noLane {
		t.jobs[lane] += n
	}
}

// flushLanes writes what was counted over all requests.
func (t *tx) flushLanes() error {
	for _, lane := range slices.Sorted(maps.Keys(t.jobs)) {
		n := t.jobs[lane]
		if n == 0 {
			continue
		}
		if _, err := t.exec("UPDATE lanes SET n = n + ? WHERE lane = ?", n, lane); err != nil {
			return err
		}
	}
	if len(t.jobs) > 0 {
		added := maps.Clone(t.jobs)
		t.then(func() {
			for lane, n := range added {
				t.w.db.lanes.count(lane, n)
			}
		})
	}
	return nil
}

// found is what an instance is found by.
type found struct {
	labels expr.Value
	terms  []string
	client string
}

func foundOf(in *store.Instance) found { return found{in.Labels, in.Terms(), in.Job.Client} }

func (f *found) equal(o *found) bool {
	return f.client == o.client && slices.Equal(f.terms, o.terms) && (f.labels.Same(o.labels) || expr.Equal(f.labels, o.labels))
}

// rows are the rows by which an instance is found: by its labels, its terms and its client.
func (f *found) rows() []store.Label {
	var out []store.Label
	if f.client != "" {
		out = append(out, clientRow(f.client))
	}
	for _, term := range f.terms {
		out = append(out, termRow(term))
	}
	if !f.labels.IsObject() {
		return out
	}
	for _, m := range f.labels.Members() {
		out = append(out, store.Label{Name: m.Key})
		texts := store.LabelTexts(m.Value)
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			out = append(out, store.Label{Name: m.Key, Value: "=" + text})
		}
	}
	return out
}

func clientRow(client string) store.Label { return store.Label{Value: "@" + client} }

// termRow is the row of a term, whose first character is not that of other rows without a name.
func termRow(term string) store.Label { return store.Label{Value: term} }

// setFound keeps the table of labels, which has the lane in its rows: while the job stays
// in its lane and what it is found by stays, there is nothing to write.
func (t *tx) setFound(sp *space, h, old *head) error {
	if old.lane == h.lane && old.found.equal(&h.found) {
		return nil
	}
	was, had := old.found.rows(), map[store.Label]bool{}
	for _, l := range was {
		had[l] = true
	}
	for _, l := range h.found.rows() {
		var err error
		switch {
		case !had[l]:
			_, err = t.exec("INSERT INTO labels (ns, name, text, lane, inst) VALUES (?, ?, ?, ?, ?)", sp.ns, l.Name, l.Value, h.lane, h.seq)
		case old.lane != h.lane:
			_, err = t.exec("UPDATE labels SET lane = ? WHERE ns = ? AND name = ? AND text = ? AND lane = ? AND inst = ?", h.lane, sp.ns, l.Name, l.Value, old.lane, h.seq)
		}
		if err != nil {
			return err
		}
		delete(had, l)
	}
	for _, l := range was {
		if !had[l] {
			continue
		}
		if _, err := t.exec("DELETE FROM labels WHERE ns = ? AND name = ? AND text = ? AND lane = ? AND inst = ?", sp.ns, l.Name, l.Value, old.lane, h.seq); err != nil {
			return err
		}
	}
	return nil
}

// laneRows are the lanes of a namespace. Those that the snapshot has and the mirror does
// not yet have are read.
func (s *Store) laneRows(c *conn) (map[int64]lane, error) {
	rows := map[int64]lane{}
	s.db.mu.Lock()
	last := s.db.lanes.last
	for _, n := range s.db.lanes.bySpace[s.ns] {
		rows[n] = s.db.lanes.rows[n]
	}
	s.db.mu.Unlock()
	return rows, c.query("SELECT lane, ns, kind, state, grp FROM lanes WHERE lane > ?", func(r row) error {
		if l := readLane(r); l.ns == s.ns {
			rows[r.ColumnInt64(0)] = l
		}
		return nil
	}, last)
}

// lanesFor are the lanes in which jobs may be that a query selects.
func (s *Store) lanesFor(c *conn, q *store.Query) (out []int64, err error) {
	rows, err := s.laneRows(c)
	names := s.db.names(c)
	for n, l := range rows {
		if inLane(q, &l, names(l.kind)) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// readLane reads a lane after its number.
func readLane(r row) lane {
	return lane{r.ColumnInt64(1), r.ColumnInt64(2), r.ColumnText(3), r.ColumnText(4)}
}

// inLane reports whether a query may select jobs of a lane.
func inLane(q *store.Query, l *lane, k kind) bool {
	return (q.Definition == "" || q.Definition == k.definition) && (q.Version == "" || q.Version == k.version) &&
		(q.State == "" || q.State == l.state) && (len(q.Groups) == 0 || slices.Contains(q.Groups, l.group))
}

// JobStats counts jobs.
func (s *Store) JobStats(ctx context.Context) ([]store.JobStat, error) {
	sums := map[store.JobStat]int64{}
	s.db.mu.Lock()
	for _, n := range s.db.lanes.bySpace[s.ns] {
		if count := s.db.lanes.counts[n]; count != 0 {
			l := s.db.lanes.rows[n]
			sums[store.JobStat{Definition: s.db.kinds.rows[l.kind].definition, State: l.state, Group: l.group}] += count
		}
	}
	s.db.mu.Unlock()
	out := slices.SortedFunc(maps.Keys(sums), store.JobStat.Compare)
	for i := range out {
		out[i].Count = sums[out[i]]
	}
	return out, ctx.Err()
}

// countJobs counts jobs by where they are alone.
func (s *Store) countJobs(q *store.Query) (n int64) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for _, number := range s.db.lanes.bySpace[s.ns] {
		if l := s.db.lanes.rows[number]; inLane(q, &l, s.db.kinds.rows[l.kind]) {
			n += s.db.lanes.counts[number]
		}
	}
	return n
}

// recover reads lanes from the file.
func (l *lanes) recover(c *conn) error {
	*l = newLanes()
	return c.query("SELECT lane, ns, kind, state, grp, n FROM lanes ORDER BY lane", func(r row) error {
		l.add(r.ColumnInt64(0), readLane(r))
		l.count(r.ColumnInt64(0), r.ColumnInt64(5))
		return nil
	})
}
