// Package wfxtest makes databases as a wfx server has them, for tests: its tables and columns, and rows as it writes them. The
// statements are understood by SQLite and PostgreSQL. In SQLite wfx stores JSON as blobs: see Write.
package wfxtest

import (
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Tables creates the tables.
const Tables = `
CREATE TABLE workflow (id integer PRIMARY KEY, name text NOT NULL UNIQUE, states jsonb NOT NULL, transitions jsonb NOT NULL, "groups" jsonb NOT NULL, description text);
CREATE TABLE job (id text PRIMARY KEY, stime timestamptz NOT NULL, mtime timestamptz NOT NULL, client_id text NOT NULL, definition jsonb, status jsonb NOT NULL, "group" text, workflow_jobs integer REFERENCES workflow (id));
CREATE INDEX job_stime ON job (stime);
CREATE INDEX job_client_id ON job (client_id);
CREATE INDEX job_group ON job ("group");
CREATE TABLE history (id integer PRIMARY KEY, mtime timestamptz NOT NULL, status jsonb, definition jsonb, job_history text REFERENCES job (id));
CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE tag_jobs (tag_id integer NOT NULL REFERENCES tag (id), job_id text NOT NULL REFERENCES job (id), PRIMARY KEY (tag_id, job_id));
CREATE TABLE schema_migrations (version bigint, dirty boolean);
INSERT INTO schema_migrations (version, dirty) VALUES (20260331155900, false);
`

// Workflow is the statement that adds a workflow.
func Workflow(id int, name, states, transitions, groups string) string {
	return fmt.Sprintf("INSERT INTO workflow (id, name, states, transitions, \"groups\", description) VALUES (%d, %s, %s, %s, %s, 'from wfx');\n", id, text(name), text(states), text(transitions), text(groups))
}

// Job is the statement that adds a job, or replaces the one with its id.
func Job(id string, workflow int, client string, created, updated time.Time, status, definition string) string {
	return fmt.Sprintf("INSERT INTO job (id, stime, mtime, client_id, definition, status, \"group\", workflow_jobs) VALUES (%s, %s, %s, %s, %s, %s, NULL, %d) "+
		"ON CONFLICT (id) DO UPDATE SET mtime = excluded.mtime, status = excluded.status, definition = excluded.definition;\n",
		text(id), at(created), at(updated), text(client), orNull(definition), text(status), workflow)
}

// History is the statement that adds a change of a job: the status that it replaced and the definition that it set. One of a
// definition has both, one of tags neither ("").
func History(id int, job string, since time.Time, status, definition string) string {
	return fmt.Sprintf("INSERT INTO history (id, mtime, status, definition, job_history) VALUES (%d, %s, %s, %s, %s);\n", id, at(since), orNull(status), orNull(definition), text(job))
}

// Tag are the statements that tag jobs.
func Tag(id int, name string, jobs ...string) string {
	out := fmt.Sprintf("INSERT INTO tag (id, name) VALUES (%d, %s);\n", id, text(name))
	for _, job := range jobs {
		out += fmt.Sprintf("INSERT INTO tag_jobs (tag_id, job_id) VALUES (%d, %s);\n", id, text(job))
	}
	return out
}

// Write runs statements on a database file, which it makes if it does not exist. JSON becomes blobs.
func Write(file, statements string) (err error) {
	c, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sqlitex.ExecuteScript(c, statements, nil); err != nil || !strings.Contains(statements, " job ") {
		return err
	}
	return sqlitex.ExecuteScript(c, blobs, nil)
}

const blobs = `
UPDATE workflow SET states = CAST(states AS blob), transitions = CAST(transitions AS blob), "groups" = CAST("groups" AS blob);
UPDATE job SET definition = CAST(definition AS blob), status = CAST(status AS blob);
UPDATE history SET definition = CAST(definition AS blob), status = CAST(status AS blob);
`

// at is a time as wfx writes it.
func at(t time.Time) string { return text(t.Format("2006-01-02 15:04:05.999999999-07:00")) }

func orNull(s string) string {
	if s == "" {
		return "NULL"
	}
	return text(s)
}

func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Begin is when the fleet of Fleet begins.
var Begin = time.Date(2024, 5, 1, 8, 0, 0, 123456000, time.FixedZone("", 2*3600))

// Fleet are the statements of a small fleet: a workflow with a job that waits, one under way, and one that is over,
// and what cannot be imported.
func Fleet() string {
	minute := func(n int) time.Time { return Begin.Add(time.Duration(n) * time.Minute) }
	var b strings.Builder
	b.WriteString(Tables)
	b.WriteString(Workflow(1, "update", `[{"name":"INSTALL"},{"name":"INSTALLING"},{"name":"INSTALLED"},{"name":"REJECTED"}]`,
		`[{"from":"INSTALL","to":"INSTALLING","eligible":"CLIENT"},{"from":"INSTALLING","to":"INSTALLED","eligible":"CLIENT"},{"from":"INSTALLING","to":"REJECTED","eligible":"WFX"}]`,
		`[{"name":"OPEN","states":["INSTALL","INSTALLING"]},{"name":"CLOSED","states":["INSTALLED","REJECTED"]}]`))
	b.WriteString(Workflow(2, "nowhere", `[{"name":"A"}]`, `[{"from":"A","to":"B","eligible":"CLIENT"}]`, `[]`))
	b.WriteString(Job("11111111-0000-4000-8000-000000000001", 1, "car", minute(0), minute(0), `{"clientId":"car","state":"INSTALL","definitionHash":"abc"}`, `{"url":"http://example.com/1"}`))
	b.WriteString(Job("22222222-0000-4000-8000-000000000002", 1, "van", minute(1), minute(30), `{"clientId":"van","state":"INSTALLING","progress":40,"message":"it's half"}`, `{"n":2}`))
	b.WriteString(History(1, "22222222-0000-4000-8000-000000000002", minute(1), `{"clientId":"van","state":"INSTALL","definitionHash":"before"}`, ""))
	b.WriteString(History(2, "22222222-0000-4000-8000-000000000002", minute(10), `{"clientId":"van","state":"INSTALLING","progress":10}`, `{"n":2}`))
	b.WriteString(History(3, "22222222-0000-4000-8000-000000000002", minute(20), `{"clientId":"van","state":"INSTALLING","progress":10}`, ""))
	b.WriteString(Job("33333333-0000-4000-8000-000000000003", 1, "bus", minute(2), minute(5), `{"clientId":"bus","state":"INSTALLED"}`, ""))
	b.WriteString(History(4, "33333333-0000-4000-8000-000000000003", minute(2), `{"clientId":"bus","state":"INSTALL"}`, ""))
	b.WriteString(History(5, "33333333-0000-4000-8000-000000000003", minute(3), "", "")) // tags
	b.WriteString(History(6, "33333333-0000-4000-8000-000000000003", minute(4), `{"clientId":"bus","state":"INSTALLING"}`, ""))
	b.WriteString(Job("44444444-0000-4000-8000-000000000004", 1, "cab", minute(3), minute(3), `{"state":"GONE"}`, ""))
	b.WriteString(Job("55555555-0000-4000-8000-000000000005", 2, "cab", minute(4), minute(4), `{"state":"A"}`, ""))
	b.WriteString(Tag(1, "berlin", "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"))
	b.WriteString(Tag(2, "beta", "22222222-0000-4000-8000-000000000002"))
	return b.String()
}
