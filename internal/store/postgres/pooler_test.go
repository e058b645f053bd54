package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestPgBouncer runs all cases behind a PgBouncer in transaction mode with fewer connections to
// the server than clients.
func TestPgBouncer(t *testing.T) {
	direct := pgtestURL(t)
	db := openURL(t, behindPgBouncer(t, direct), Options{})
	var last atomic.Int64
	storetest.Cases(t, func(*testing.T) store.Store { return db.Namespace(fmt.Sprint(last.Add(1))) })

	conn, err := pgx.Connect(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	clients := 0
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'").Scan(&clients); err != nil {
		t.Fatal(err)
	}
	if clients > poolSize+1 {
		t.Errorf("%d connections to the server: the pooler was not between", clients)
	}
}

// TestLostAnswerBehindPgBouncer: a pooler that loses the server answers with an error of its own. Whether
// the write happened is found out all the same.
func TestLostAnswerBehindPgBouncer(t *testing.T) {
	server := pgtest.Start(t)
	p := newProxy(t, server.Addr())
	s := openURL(t, behindPgBouncer(t, p.url(t, server.Database(t))), Options{}).Namespace("x")
	row := store.Instance{ID: "a", Status: core.Waiting}
	if err := s.Commit(ctx, store.Commit{Instance: row}); err != nil {
		t.Fatal(err)
	}
	row.Rev = 1
	for name, c := range map[string]struct {
		lose  func() (lost func() int)
		write func() error
	}{
		"a commit": {
			func() func() int { return p.cutOnce("commit_one", func() {}) },
			func() error {
				return s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "once"}}})
			},
		},
		"a start": {
			func() func() int { return p.cutOnce("commit_one", func() {}) },
			func() error {
				return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}})
			},
		},
		"several statements": {
			func() func() int { return p.cutQuery("commit", func() {}) },
			func() error {
				_, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false)
				return err
			},
		},
	} {
		lost := c.lose()
		if err := c.write(); err != nil {
			t.Errorf("%s happened, and is told as %v", name, err)
		}
		p.setCut(nil)
		if n := lost(); n != 1 {
			t.Errorf("%s: %d answers were lost", name, n)
		}
	}
	if got, err := s.Instance(ctx, "a"); err != nil || got.Rev != 2 {
		t.Errorf("revision %d, %v", got.Rev, err)
	}
	if records, err := s.Records(ctx, "a", 0, 0); err != nil || len(records) != 1 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// poolSize is how many connections to the server the pooler has.
const poolSize = 3

// behindPgBouncer starts a pooler before a database and returns its address.
func behindPgBouncer(t *testing.T, direct string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if errors.Is(err, exec.ErrNotFound) {
		path, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		t.Fatal("there is no pgbouncer in PATH or in /usr/sbin: run `make postgres`, or install your system's package of PgBouncer")
	}
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	dir, err := os.MkdirTemp("", "lockstep-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\nunix_socket_dir =\n"+
		"pool_mode = transaction\ndefault_pool_size = %d\n", u.Hostname(), u.Port(), u.User.Username(), port, poolSize)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	pgtest.Serve(t, path, dir, []string{config}, "process up")
	u.Host = fmt.Sprint("127.0.0.1:", port)
	return u.String()
}
