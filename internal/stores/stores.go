// Package stores opens the store that an address names: sqlite:FILE, postgres://…, or memory:.
package stores

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// StateDir is where the command line keeps its files, below the working directory. A new one gets a
// .gitignore.
const StateDir = ".lockstep"

// The kinds of stores, as addresses begin.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	Memory   = "memory"
)

// Address is the address of a store. String leaves out its passwords.
type Address struct {
	Kind string
	Path string // of the file; of PostgreSQL: the whole URL
}

// AddressError says that an address is not understood. It repeats nothing of the address, because a
// password may be anywhere in it.
type AddressError struct{ Msg, Hint string }

func (e *AddressError) Error() string { return e.Msg }

// Parse reads an address. Its error is an [*AddressError].
func Parse(text string) (Address, error) {
	kind, path, found := strings.Cut(text, ":")
	switch {
	case kind == Memory && path == "":
		return Address{Kind: kind}, nil
	case kind == SQLite && path != "":
		if !isFile(path) {
			return Address{}, &AddressError{Msg: "sqlite:… must name a file, without a host or parameters"}
		}
		return Address{Kind: kind, Path: path}, nil
	case kind == Postgres || kind == "postgresql":
		return parsePostgres(kind, text)
	}
	e := &AddressError{Msg: "is neither sqlite:FILE, postgres://USER@HOST/DATABASE nor memory:"}
	switch near := dialect.Suggest(strings.ToLower(kind), []string{SQLite, Postgres, Memory}); {
	case found && near == Postgres:
		e.Hint = "did you mean postgres://…?"
	case !found || near == SQLite:
		e.Hint = "did you mean sqlite:FILE?"
	}
	return Address{}, e
}

func parsePostgres(kind, text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && u.Query().Get("host") == "" || u.Path == "" {
		return Address{}, &AddressError{Msg: kind + "… is not a PostgreSQL address such as postgres://user@host/database"}
	}
	if strings.Contains(u.EscapedPath(), "@") { // the text before it was meant as a password
		return Address{}, &AddressError{
			Msg:  kind + "… has an @ in the name of the database",
			Hint: "in a password write / as %2F, ? as %3F, # as %23 and @ as %40",
		}
	}
	return Address{Kind: Postgres, Path: text}, nil
}

// isFile reports whether text is the name of a file, and not an address in the notation of
// another program.
func isFile(text string) bool {
	return !strings.Contains(text, "://") && !(strings.HasPrefix(text, "//") && strings.Contains(text, "@")) && !HasPassword(text)
}

// HasPassword reports whether text seems to contain a password: password=…, or USER:PASSWORD@…
// in MySQL's notation.
func HasPassword(text string) bool { return passwordIn.MatchString(text) }

var passwordIn = regexp.MustCompile(`(?i)(password|passwd|pwd)\s*=|[^/\\]:[^/\\]*@`)

// shownParameters are the parameters that messages may repeat, if their values are plain.
var (
	shownParameters = []string{"application_name", "connect_timeout", "dbname", "hints", "host", "pool_max_conns", "port", "schema", "sslmode", "target_session_attrs", "user"}
	plainValue      = regexp.MustCompile(`^[A-Za-z0-9_.,:/-]*$`)
)

// String is the address with only those parts that are known not to be secret.
func (a Address) String() string {
	if a.Kind != Postgres {
		return a.Kind + ":" + a.Path
	}
	u, err := url.Parse(a.Path)
	if err != nil {
		return Postgres + ":"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
		if _, has := u.User.Password(); has {
			shown.User = url.UserPassword(u.User.Username(), "xxxxx")
		}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // its contents are unknown
		return shown.String()
	}
	for name, values := range q {
		if !slices.Contains(shownParameters, name) || !plainValue.MatchString(strings.Join(values, "")) {
			q[name] = []string{"xxxxx"}
		}
		if !plainValue.MatchString(name) {
			delete(q, name)
		}
	}
	shown.RawQuery = q.Encode()
	return shown.String()
}

// Redact removes from a driver's message what String leaves out.
func (a Address) Redact(err error) error {
	u, bad := url.Parse(a.Path)
	if err == nil || bad != nil || a.Kind != Postgres {
		return err
	}
	var secrets []string
	if password, ok := u.User.Password(); ok {
		_, written, _ := strings.Cut(strings.TrimPrefix(a.Path, u.Scheme+"://"), ":")
		written, _, _ = strings.Cut(written, "@"+u.Host)
		secrets = append(secrets, password, written)
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, written, _ := strings.Cut(pair, "=")
		if value, err := url.QueryUnescape(written); err == nil && !slices.Contains(shownParameters, name) {
			secrets = append(secrets, value, written, url.QueryEscape(value))
		}
	}
	text := err.Error()
	for _, secret := range secrets {
		if len(secret) > 2 { // shorter ones would match by chance
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
	}
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// redactedError is an error with another text.
type redactedError struct {
	text string
	err  error
}

func (r *redactedError) Error() string { return r.text }
func (r *redactedError) Unwrap() error { return r.err }

// Exists reports whether the database file or its write-ahead log exists. A PostgreSQL database
// is assumed to exist.
func (a Address) Exists() bool {
	if a.Kind != SQLite {
		return a.Kind == Postgres
	}
	for _, path := range []string{a.Path, a.Path + "-wal"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// Look says what opening the store would do, without doing it: no lock is taken and nothing is changed, so a
// server may be using the store.
func (a Address) Look(ctx context.Context) (string, error) {
	var have, want int
	var err error
	switch {
	case a.Kind == Postgres:
		have, want, err = postgres.Look(ctx, a.Path)
		err = a.Redact(err)
	case a.Exists():
		have, want, err = sqlite.Look(a.Path)
	}
	switch {
	case err != nil:
		return "", err
	case have == 0:
		return "will be created", nil
	case have < want:
		return fmt.Sprintf("can be opened, and its schema will be migrated from %d to %d", have, want), nil
	}
	return "can be opened", nil
}

// Options say how a store is opened.
type Options struct {
	Namespace  string
	KeepSchema bool // the schema of the database stays as it is
	Restored   bool // also a store that was restored from a backup and not resumed since
	Resume     bool // such a store is resumed
	Log        *slog.Logger
}

// Opened is a store in use.
type Opened struct {
	store.Store
	Close func() error
}

// Open opens the store. A database file that does not exist is created, with its folder.
func (a Address) Open(ctx context.Context, o Options) (Opened, error) {
	switch a.Kind {
	case Memory:
		return Opened{memory.New(), func() error { return nil }}, nil
	case Postgres:
		db, err := postgres.Open(ctx, a.Path, postgres.Options{KeepSchema: o.KeepSchema, Log: o.Log})
		if err != nil {
			return Opened{}, a.Redact(err)
		}
		if err := admit(ctx, db, o); err != nil {
			return Opened{}, a.Redact(err)
		}
		return Opened{db.Namespace(o.Namespace), db.Close}, nil
	}
	if err := makeFolder(filepath.Dir(a.Path)); err != nil {
		return Opened{}, err
	}
	db, err := sqlite.Open(a.Path, sqlite.Options{KeepSchema: o.KeepSchema, Log: o.Log})
	if err != nil {
		return Opened{}, err
	}
	if err := admit(ctx, db, o); err != nil {
		return Opened{}, err
	}
	return Opened{db.Namespace(o.Namespace), db.Close}, nil
}

func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the store: %w", err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if filepath.Base(dir) != StateDir {
		return nil
	}
	if _, err := os.Stat(ignore); err != nil {
		_ = os.WriteFile(ignore, []byte("*\n"), 0o600) // a courtesy; nothing depends on it
	}
	return nil
}
