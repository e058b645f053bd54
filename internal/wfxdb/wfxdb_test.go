package wfxdb_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/wfxdb"
	"github.com/lockstep-workflows/lockstep/internal/wfxdb/wfxtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// databases are the databases that have what the statements say.
func databases(t *testing.T, statements string) map[string]*wfxdb.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wfx.db")
	if err := wfxtest.Write(file, statements); err != nil {
		t.Fatal(err)
	}
	lite, err := wfxdb.OpenSQLite(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lite.Close() })
	address := pgtest.Start(t).Database(t)
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	post, err := wfxdb.OpenPostgres(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = post.Close() })
	return map[string]*wfxdb.DB{"SQLite": lite, "PostgreSQL": post}
}

// TestRead: workflows, and jobs oldest first, with what belongs to them.
func TestRead(t *testing.T) {
	const want = `workflow nowhere {"description":"from wfx","groups":[],"name":"nowhere","states":[{"name":"A"}],"transitions":[{"eligible":"CLIENT","from":"A","to":"B"}]}
job 1 car update [berlin] 06:00:00.123456 06:00:00.123456 {"clientId":"car","state":"INSTALL"} {"url":"http://example.com/1"}
job 2 van update [berlin beta] 06:01:00.123456 06:30:00.123456 {"clientId":"van","message":"it's half","progress":40,"state":"INSTALLING"} {"n":2}
  06:01:00.123456 {"clientId":"van","definitionHash":"before","state":"INSTALL"} null
  06:10:00.123456 {"clientId":"van","progress":10,"state":"INSTALLING"} {"n":2}
  06:20:00.123456 {"clientId":"van","progress":10,"state":"INSTALLING"} null
job 3 bus update [] 06:02:00.123456 06:05:00.123456 {"clientId":"bus","state":"INSTALLED"} null
  06:02:00.123456 {"clientId":"bus","state":"INSTALL"} null
  06:03:00.123456 null null
  06:04:00.123456 {"clientId":"bus","state":"INSTALLING"} null
job 4 cab update [] 06:03:00.123456 06:03:00.123456 {"state":"GONE"} null
job 5 cab nowhere [] 06:04:00.123456 06:04:00.123456 {"state":"A"} null
`
	for name, db := range databases(t, wfxtest.Fleet()) {
		var b strings.Builder
		err := db.Workflows(t.Context(), func(w wfxdb.Workflow) error {
			if w.Name == "nowhere" {
				fmt.Fprintln(&b, "workflow", w.Name, w.Document)
			}
			return w.Err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		clock := func(at time.Time) string { return at.UTC().Format("15:04:05.999999999") }
		err = db.Jobs(t.Context(), func(j wfxdb.Job) error {
			fmt.Fprintln(&b, "job", j.ID[:1], j.Client, j.Workflow, j.Tags, clock(j.Created), clock(j.Updated), j.Status, j.Definition)
			for _, e := range j.History {
				fmt.Fprintln(&b, " ", clock(e.At), e.Status, e.Definition)
			}
			return j.Err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b.String() != want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestLongHistory: the oldest entries are left out, and counted; memory stays bounded.
func TestLongHistory(t *testing.T) {
	var b strings.Builder
	b.WriteString(wfxtest.Tables + wfxtest.Workflow(1, "w", `[]`, `[]`, `[]`))
	large := `{"state":"A","message":"` + strings.Repeat("x", wfxdb.MaxHistoryBytes/2) + `"}`
	for i, id := range []string{"long", "large"} {
		b.WriteString(wfxtest.Job(id, 1, "c", wfxtest.Begin.Add(time.Duration(i)), wfxtest.Begin, `{"state":"A"}`, ""))
	}
	for i := range wfxdb.MaxHistory + 3 {
		b.WriteString(wfxtest.History(i, "long", wfxtest.Begin.Add(time.Duration(i)*time.Second), `{"state":"A"}`, ""))
	}
	for i := range 3 {
		b.WriteString(wfxtest.History(100_000+i, "large", wfxtest.Begin.Add(time.Duration(i)*time.Second), large, ""))
	}
	file := filepath.Join(t.TempDir(), "wfx.db")
	if err := wfxtest.Write(file, b.String()); err != nil {
		t.Fatal(err)
	}
	db, err := wfxdb.OpenSQLite(file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got := ""
	err = db.Jobs(t.Context(), func(j wfxdb.Job) error {
		got += fmt.Sprintln(j.ID, len(j.History), j.Cut, j.History[0].At.Sub(wfxtest.Begin), j.Err)
		return nil
	})
	if want := fmt.Sprintln("long", wfxdb.MaxHistory, 3, "3s <nil>") + fmt.Sprintln("large 1 2 2s <nil>"); err != nil || got != want {
		t.Errorf("%v:\n%swant\n%s", err, got, want)
	}
}

// TestLargeRow: of a row that is too large only the size is read; other jobs are.
func TestLargeRow(t *testing.T) {
	large := `{"state":"` + strings.Repeat("x", wfxdb.MaxRowBytes) + `"}`
	job := func(id string, n int, status, definition string) string {
		return wfxtest.Job(id, 1, "c", wfxtest.Begin.Add(time.Duration(n)), wfxtest.Begin, status, definition)
	}
	statements := wfxtest.Tables + wfxtest.Workflow(1, "w", `[]`, `[]`, `[]`) + wfxtest.Workflow(2, "wide", large, `[]`, `[]`) +
		job("status", 0, large, "") + job("definition", 1000, `{"state":"A"}`, large) + job("past", 2000, `{"state":"A"}`, "") +
		wfxtest.History(1, "past", wfxtest.Begin, `{"state":"B"}`, "") + wfxtest.History(2, "past", wfxtest.Begin, large, "") +
		wfxtest.History(3, "past", wfxtest.Begin, `{"state":"C"}`, "")
	const want = "w: <nil>\nwide: limit import-row-bytes\nstatus 0 0: limit import-row-bytes\ndefinition 0 0: limit import-row-bytes\npast 1 2: <nil>\n"
	for name, db := range databases(t, statements) {
		got := ""
		limit := func(err error) string {
			text := fmt.Sprint(err)
			if _, after, ok := strings.Cut(text, "("); ok {
				return strings.TrimSuffix(after, ")")
			}
			return text
		}
		err := db.Workflows(t.Context(), func(w wfxdb.Workflow) error {
			got += fmt.Sprintf("%s: %s\n", w.Name, limit(w.Err))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Jobs(t.Context(), func(j wfxdb.Job) error {
			got += fmt.Sprintf("%s %d %d: %s\n", j.ID, len(j.History), j.Cut, limit(j.Err))
			return nil
		})
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// TestUnreadable: a bad row is told with its job; a file that is no database of wfx is refused.
func TestUnreadable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wfx.db")
	statements := wfxtest.Tables + wfxtest.Workflow(1, "w", `{`, `[]`, `[]`) +
		wfxtest.Job("status", 1, "c", wfxtest.Begin, wfxtest.Begin, `{"state`, "") +
		"INSERT INTO job (id, stime, mtime, client_id, definition, status, \"group\", workflow_jobs) VALUES ('time', 'tomorrow', '2024-01-01 00:00:00+00:00', 'c', NULL, '{}', NULL, 1);" +
		wfxtest.Job("list", 1, "c", wfxtest.Begin.Add(1), wfxtest.Begin, `{}`, `[1]`) +
		wfxtest.Job("future", 1, "c", wfxtest.Begin.Add(2), wfxtest.Begin.AddDate(400, 0, 0), `{}`, "") +
		wfxtest.Job("past", 1, "c", wfxtest.Begin.Add(3), wfxtest.Begin, `{}`, "") + wfxtest.History(1, "past", time.Time{}, `{}`, "") +
		"INSERT INTO job (id, stime, mtime, client_id, definition, status, \"group\", workflow_jobs) VALUES ('lonely', '2025-01-01 00:00:00+00:00', '2024-01-01 00:00:00+00:00', 'c', NULL, '{}', NULL, NULL);"
	if err := wfxtest.Write(file, statements); err != nil {
		t.Fatal(err)
	}
	db, err := wfxdb.OpenSQLite(file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got := ""
	note := func(name string, err error) error {
		got += name + ": " + strings.SplitN(err.Error(), ":", 2)[0] + "\n"
		return nil
	}
	if err := db.Workflows(t.Context(), func(w wfxdb.Workflow) error { return note(w.Name, w.Err) }); err != nil {
		t.Error(err)
	}
	if err := db.Jobs(t.Context(), func(j wfxdb.Job) error { return note(j.ID, j.Err) }); err != nil {
		t.Error(err)
	}
	const want = "w: its states cannot be read\nstatus: its status cannot be read\nlist: its definition is not an object\nfuture: its mtime cannot be read\npast: its history cannot be read\nlonely: it has no workflow\ntime: its stime cannot be read\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if err := wfxtest.Write(other, "CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	empty, err := wfxdb.OpenSQLite(other)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if err := empty.Jobs(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "cannot be read as a database of wfx: ") {
		t.Error(err)
	}
}
