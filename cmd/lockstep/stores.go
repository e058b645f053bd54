package main

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

// stateDir is where files of the server are, below the working directory.
const stateDir = ".lockstep"

// opened is a store that is in use.
type opened struct {
	store.Store
	close func() error
}

// storeSpec is the value of --store. The path of a database that is shared is its URL.
type storeSpec struct {
	kind, path string
	keep       bool // its schema stays as it is
}

const sharedKind = "postgres"

var storeKinds = []string{"sqlite", sharedKind, "memory"}

// parseStore takes --store apart: sqlite:FILE, a URL of PostgreSQL, or memory:, which forgets.
// Its messages repeat nothing of an address that is not understood: a password may be anywhere in it.
func parseStore(text string) (storeSpec, error) {
	kind, path, found := strings.Cut(text, ":")
	switch {
	case kind == "memory" && path == "":
		return storeSpec{kind: kind}, nil
	case kind == "sqlite" && path != "":
		if !isFile(path) {
			return storeSpec{}, usagef("--store sqlite:… names no file, but an address or parameters")
		}
		return storeSpec{kind: kind, path: path}, nil
	case kind == sharedKind || kind == "postgresql":
		u, err := url.Parse(text)
		if err != nil || u.Host == "" && u.Query().Get("host") == "" || u.Path == "" {
			return storeSpec{}, usagef("--store %s… is no address of PostgreSQL like postgres://user@host/database", kind)
		}
		if strings.Contains(u.EscapedPath(), "@") { // what stands before it was meant as a password
			f := usagef("--store %s… has an @ in the name of the database", kind)
			f.hint = "in a password write / as %2F, ? as %3F, # as %23 and @ as %40"
			return storeSpec{}, f
		}
		return storeSpec{kind: sharedKind, path: text}, nil
	}
	f := usagef("--store is neither sqlite:FILE, postgres://USER@HOST/DATABASE nor memory:")
	switch near := dialect.Suggest(strings.ToLower(kind), storeKinds); {
	case found && near == sharedKind:
		f.hint = "did you mean postgres://…?"
	case !found || near == "sqlite":
		f.hint = "did you mean sqlite:FILE?"
	}
	return storeSpec{}, f
}

// isFile reports whether text is the name of a file, and not what other programs take for
// an address.
func isFile(text string) bool {
	return !strings.Contains(text, "://") && !(strings.HasPrefix(text, "//") && strings.Contains(text, "@")) && !passwordIn.MatchString(text)
}

// passwordIn finds password=…, and USER:PASSWORD@… as MySQL writes it.
var passwordIn = regexp.MustCompile(`(?i)(password|passwd|pwd)\s*=|[^/\\]:[^/\\]*@`)

// shownParameters are those of an address that messages repeat, where their values are plain.
var (
	shownParameters = []string{"application_name", "connect_timeout", "dbname", "hints", "host", "pool_max_conns", "port", "schema", "sslmode", "target_session_attrs", "user"}
	plainValue      = regexp.MustCompile(`^[A-Za-z0-9_.,:/-]*$`)
)

// String leaves out passwords: it repeats only what is known to be none.
func (s storeSpec) String() string {
	if s.kind != sharedKind {
		return s.kind + ":" + s.path
	}
	u, err := url.Parse(s.path)
	if err != nil {
		return sharedKind + ":"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
		if _, has := u.User.Password(); has {
			shown.User = url.UserPassword(u.User.Username(), "xxxxx")
		}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // nobody knows what is in it
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

// redact takes out of a message of a driver what String leaves out.
func (s storeSpec) redact(err error) error {
	u, bad := url.Parse(s.path)
	if bad != nil || s.kind != sharedKind {
		return err
	}
	var secrets []string
	if password, ok := u.User.Password(); ok {
		_, written, _ := strings.Cut(strings.TrimPrefix(s.path, u.Scheme+"://"), ":")
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
		if len(secret) > 2 { // shorter ones are everywhere
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
	}
	if text == err.Error() {
		return err
	}
	return &redacted{text, err}
}

// redacted is an error that is told in other words.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }

// exists reports whether there is a database already, or what is left of one.
func (s storeSpec) exists() bool {
	if s.kind != "sqlite" {
		return s.kind == sharedKind
	}
	for _, path := range []string{s.path, s.path + "-wal"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// open opens the store; a database that does not exist is made, in a folder of its own
// that git passes over where that is the default one.
func (s storeSpec) open(namespace string, log *slog.Logger) (opened, error) {
	if s.kind == "memory" {
		return opened{memory.New(), func() error { return nil }}, nil
	}
	if s.kind == sharedKind {
		db, err := postgres.Open(context.Background(), s.path, postgres.Options{KeepSchema: s.keep, Log: log})
		if err != nil {
			return opened{}, s.redact(err)
		}
		return opened{db.Namespace(namespace), db.Close}, nil
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return opened{}, fmt.Errorf("make the folder of the store: %w", err)
	}
	if ignore := filepath.Join(dir, ".gitignore"); filepath.Base(dir) == stateDir {
		if _, err := os.Stat(ignore); err != nil {
			_ = os.WriteFile(ignore, []byte("*\n"), 0o600) // a courtesy; nothing depends on it
		}
	}
	db, err := sqlite.Open(s.path, sqlite.Options{KeepSchema: s.keep, Log: log})
	if err != nil {
		return opened{}, err
	}
	return opened{db.Namespace(namespace), db.Close}, nil
}
