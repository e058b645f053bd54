package serve

import (
	"strings"
	"testing"
)

// TestStoresOfWfx: what --storage and --storage-opt stand for.
func TestStoresOfWfx(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGDATABASE"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct{ kind, options, want string }{
		{"", "", ""},
		{"sqlite", "", ""},
		{"sqlite", "wfx.db", "sqlite:wfx.db"},
		{"", "file:/var/lib/wfx.db?_fk=1", "sqlite:/var/lib/wfx.db"},
		{"sqlite", "file:x?mode=memory&cache=shared", "memory:"},
		{"sqlite", ":memory:", "memory:"},
		{"postgres", "postgres://u@h/d", "postgres://u@h/d"},
		{"postgres", "host=db port=5433 user=wfx password='a b\\'c@/' database=jobs sslmode=disable", "postgres://wfx:a%20b%27c%40%2F@db:5433/jobs?sslmode=disable"},
		{"postgres", "user = wfx", "postgres://wfx@localhost/wfx"},
		{"postgres", "host=db password=a&b dbname=d", "postgres://db/d?password=a%26b"},
		{"postgres", "host=db\n\tpassword=secret\r\nuser=u\tdbname=d", "postgres://u:secret@db/d"},
		{"postgres", "host=/run/pg port=1 dbname=d", "postgres:///d?host=%2Frun%2Fpg&port=1"},
	} {
		got, err := wfxStore(c.kind, c.options)
		if err != nil || got != c.want {
			t.Errorf("%s %s: %s %v, want %s", c.kind, c.options, got, err, c.want)
		}
		if got != "" {
			if _, err := parseStore(got); err != nil {
				t.Errorf("%s: %v", got, err)
			}
		}
	}
	t.Setenv("PGHOST", "other")
	t.Setenv("PGDATABASE", "d")
	if got, err := wfxStore("postgres", ""); err != nil || got != "postgres://other/d" {
		t.Errorf("libpq's variables: %s %v", got, err)
	}
	for _, options := range []string{"host", "host=a password='secret", "a b=c", "=secret"} {
		if got, err := wfxStore("postgres", options); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s %v", options, got, err)
		}
	}
}
