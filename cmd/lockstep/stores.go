package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/memory"
	"github.com/lockstep-workflows/lockstep/store/postgres"
	"github.com/lockstep-workflows/lockstep/store/sqlite"
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
func parseStore(text string) (storeSpec, error) {
	kind, path, found := strings.Cut(text, ":")
	switch {
	case kind == "memory" && path == "":
		return storeSpec{kind: kind}, nil
	case kind == "sqlite" && path != "":
		return storeSpec{kind: kind, path: path}, nil
	case kind == sharedKind || kind == "postgresql":
		if u, err := url.Parse(text); err != nil || u.Host == "" && u.Query().Get("host") == "" || u.Path == "" {
			return storeSpec{}, usagef("--store %s… is no address of PostgreSQL like postgres://user@host/database", kind) // it may have a password
		}
		return storeSpec{kind: sharedKind, path: text}, nil
	}
	f := usagef("--store %q is neither sqlite:FILE, postgres://… nor memory:", text)
	if near := dialect.Suggest(kind, storeKinds); found && near != "" && near != kind {
		f.hint = fmt.Sprintf("did you mean %s:%s?", near, path)
	} else if !found {
		f.hint = fmt.Sprintf("did you mean sqlite:%s?", text)
	}
	return storeSpec{}, f
}

// String leaves out passwords.
func (s storeSpec) String() string {
	if s.kind != sharedKind {
		return s.kind + ":" + s.path
	}
	u, err := url.Parse(s.path)
	if err != nil {
		return sharedKind + ":"
	}
	q, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil: // nobody knows what is in it
		u.RawQuery = ""
	case q.Has("password"):
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// exists reports whether there is a database already.
func (s storeSpec) exists() bool {
	if s.kind != "sqlite" {
		return s.kind == sharedKind
	}
	_, err := os.Stat(s.path)
	return err == nil
}

// open opens the store; a database that does not exist is made, in a folder of its own
// that git passes over where that is the default one.
func (s storeSpec) open(namespace string) (opened, error) {
	if s.kind == "memory" {
		return opened{memory.New(), func() error { return nil }}, nil
	}
	if s.kind == sharedKind {
		db, err := postgres.Open(context.Background(), s.path, postgres.Options{KeepSchema: s.keep})
		if err != nil {
			return opened{}, err
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
	db, err := sqlite.Open(s.path, sqlite.Options{KeepSchema: s.keep})
	if err != nil {
		return opened{}, err
	}
	return opened{db.Namespace(namespace), db.Close}, nil
}
