package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/nodetest"
)

// watcher looks at a PostgreSQL server from a connection of its own.
type watcher struct {
	conn       *pgx.Conn
	address    string
	postmaster int  // its process, if it is on this machine; else 0
	sessions   int  // of others, before there were nodes
	counts     bool // it has the extension that counts statements
}

func watch(ctx context.Context, address string) (*watcher, error) {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	w := &watcher{conn: c, address: address}
	var backend int
	var local bool
	err = c.QueryRow(ctx, "SELECT pg_backend_pid(), coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)").Scan(&backend, &local)
	if err == nil {
		w.sessions, err = w.others(ctx)
	}
	if err == nil {
		err = c.QueryRow(ctx, "SELECT to_regclass('pg_stat_statements') IS NOT NULL").Scan(&w.counts)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	if p, ok := processOf(backend); ok && local && p.name == "postgres" {
		w.postmaster = p.parent
	}
	// What was written before is not to be written out during the measurement.
	if _, err := c.Exec(ctx, "CHECKPOINT"); err != nil {
		complain(fmt.Errorf("no checkpoint before the measurement: %w", err))
	}
	return w, nil
}

func (w *watcher) close() { _ = w.conn.Close(context.Background()) }

// wal is how much was written to the log, ever.
func (w *watcher) wal(ctx context.Context) (n int64, err error) {
	err = w.conn.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&n)
	return n, err
}

// statements is how many statements of clients the database ran, ever; 0 if the server does not count them.
func (w *watcher) statements(ctx context.Context) (n int64, err error) {
	if !w.counts {
		return 0, nil
	}
	err = w.conn.QueryRow(ctx, `SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
		WHERE d.datname = current_database()`).Scan(&n)
	return n, err
}

// databaseWork is what a database did, in all or for each workflow.
type databaseWork struct {
	commits, rows float64 // rows inserted, updated and deleted
	wal           float64 // bytes
}

func (w *watcher) work(ctx context.Context) (d databaseWork, err error) {
	err = w.conn.QueryRow(ctx, `SELECT xact_commit, tup_inserted + tup_updated + tup_deleted
		FROM pg_stat_database WHERE datname = current_database()`).Scan(&d.commits, &d.rows)
	return d, err
}

// others counts the sessions of others in the database.
func (w *watcher) others(ctx context.Context) (n int, err error) {
	err = w.conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&n)
	return n, err
}

// workSince is what the database did for each of so many workflows. It waits until the
// sessions of the nodes are gone, since only then everything is known.
func (w *watcher) workSince(ctx context.Context, before databaseWork, workflows int) (databaseWork, error) {
	err := until(ctx, "the sessions of nodes that ended are gone", func(ctx context.Context) (bool, error) {
		n, err := w.others(ctx)
		return n <= w.sessions, err
	})
	if err != nil {
		return databaseWork{}, err
	}
	d, err := w.work(ctx)
	count := float64(workflows)
	return databaseWork{commits: (d.commits - before.commits) / count, rows: (d.rows - before.rows) / count}, err
}

// waits is what sessions of the nodes were seen at.
type waits struct {
	looks    int
	sessions int            // seen, idle or not
	seen     map[string]int // of those that are not idle: how many, by what they wait for
}

const (
	pauseOfLooks = 50 * time.Millisecond
	mostWaits    = 5 // that are printed
	onCPU        = "none (CPU)"
)

// sample polls the sessions until it is stopped.
func (w *watcher) sample(ctx context.Context) (stop func() waits) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan waits)
	go func() {
		out := waits{seen: map[string]int{}}
		defer func() { result <- out }()
		c, err := pgx.Connect(ctx, w.address)
		if err != nil {
			complain(err)
			return
		}
		defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
		beat := time.NewTicker(pauseOfLooks)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
			}
			if err := out.look(ctx, c); err != nil && ctx.Err() == nil {
				complain(err)
				return
			}
		}
	}()
	return func() waits {
		cancel()
		return <-result
	}
}

// look adds what there is to see now.
func (w *waits) look(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, `SELECT CASE WHEN state = 'idle' THEN '' WHEN state LIKE 'idle in%' THEN state
			ELSE coalesce(wait_event_type || ':' || wait_event, $1) END, count(*)
		FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND state IS NOT NULL
		GROUP BY 1`, onCPU)
	if err != nil {
		return err
	}
	type seen struct {
		What  string
		Count int
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[seen])
	if err != nil {
		return err
	}
	w.looks++
	for _, s := range list {
		w.sessions += s.Count
		if s.What != "" {
			w.seen[s.What] += s.Count
		}
	}
	return nil
}

// String says how many sessions were busy on average, and what most of them did.
func (w waits) String() string {
	if w.looks == 0 {
		return "waits: not sampled"
	}
	mean := func(n int) float64 { return float64(n) / float64(w.looks) }
	names, busy := slices.Sorted(maps.Keys(w.seen)), 0
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(w.seen[b], w.seen[a]) })
	var b strings.Builder
	for i, name := range names {
		busy += w.seen[name]
		if i < mostWaits {
			fmt.Fprintf(&b, "   %s %.2f", name, mean(w.seen[name]))
		}
	}
	return fmt.Sprintf("waits: %.2f of %.0f sessions busy%s", mean(busy), mean(w.sessions), b.String())
}

// cpu is what the processes used so far.
func (w *watcher) cpu(nodes []*nodetest.Node) (t cpuTimes) {
	for _, n := range nodes {
		t.nodes += cpuOf(n.PID())
	}
	t.client = ownCPU()
	if w.postmaster != 0 {
		t.postgres = cpuOfFamily(w.postmaster)
	}
	t.machine = machineCPU()
	return t
}
