package serve

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// wfxStore is the --store for wfx's --storage and --storage-opt; "": they are not given. They may have a
// password, so no message repeats them.
func wfxStore(kind, options string) (string, error) {
	switch {
	case kind == "" && options == "":
		return "", nil
	case kind == "" || kind == "sqlite":
		return wfxFile(options), nil
	case kind == "postgres":
		return wfxDatabase(options)
	}
	return "", cli.Usagef("--storage must be sqlite or postgres")
}

// wfxFile is the file of an SQLite address file:NAME?options. The options are ignored.
func wfxFile(options string) string {
	name, query, _ := strings.Cut(strings.TrimPrefix(options, "file:"), "?")
	values, _ := url.ParseQuery(query)
	switch {
	case name == ":memory:" || values.Get("mode") == "memory":
		return "memory:"
	case name == "":
		return ""
	}
	return "sqlite:" + name
}

// wfxDatabase converts libpq's keys and values to a PostgreSQL address. libpq's variables are the defaults.
func wfxDatabase(options string) (string, error) {
	if strings.Contains(options, "://") {
		return options, nil
	}
	values, ok := keysAndValues(options)
	for name, value := range values { // host=h;password=… is one value
		ok = ok && (strings.Contains(name, "password") || !stores.HasPassword(value))
	}
	if !ok {
		return "", cli.Usagef("--storage-opt must be a PostgreSQL address (postgres://…) or keys and values such as host=… dbname=…")
	}
	take := func(variable, otherwise string, names ...string) string {
		for _, name := range names {
			if value, ok := values[name]; ok {
				delete(values, name)
				return value
			}
		}
		if value := os.Getenv(variable); value != "" {
			return value
		}
		return otherwise
	}
	host, port := take("PGHOST", "localhost", "host"), take("PGPORT", "", "port")
	user, password := take("PGUSER", "", "user"), take("", "", "password")
	at := url.URL{Scheme: stores.Postgres, Path: "/" + take("PGDATABASE", user, "dbname", "database")}
	switch {
	case user != "" && password != "":
		at.User = url.UserPassword(user, password)
	case user != "":
		at.User = url.User(user)
	}
	query := url.Values{}
	for name, value := range values {
		query.Set(name, value)
	}
	if user == "" && password != "" { // for the user of this process
		query.Set("password", password)
	}
	if strings.HasPrefix(host, "/") { // the folder of a socket
		query.Set("host", host)
		if port != "" {
			query.Set("port", port)
		}
	} else {
		at.Host = host
		if port != "" {
			at.Host = net.JoinHostPort(host, port)
		}
	}
	at.RawQuery = query.Encode()
	return at.String(), nil
}

// blanks are the white space of libpq.
const blanks = " \t\n\v\f\r"

// keysAndValues parses key=value pairs, separated by white space; a quoted value may contain it, and a
// backslash escapes the next character.
func keysAndValues(text string) (map[string]string, bool) {
	out := map[string]string{}
	for {
		text = strings.TrimLeft(text, blanks)
		if text == "" {
			return out, true
		}
		key, rest, found := strings.Cut(text, "=")
		key, rest = strings.TrimRight(key, blanks), strings.TrimLeft(rest, blanks)
		if !found || key == "" || strings.ContainsAny(key, blanks+"'") {
			return nil, false
		}
		quoted := strings.HasPrefix(rest, "'")
		if quoted {
			rest = rest[1:]
		}
		var value strings.Builder
		i := 0
		for ; i < len(rest); i++ {
			c := rest[i]
			if c == '\\' && i+1 < len(rest) {
				i++
				c = rest[i]
			} else if quoted && c == '\'' || !quoted && strings.IndexByte(blanks, c) >= 0 {
				break
			}
			value.WriteByte(c)
		}
		if quoted && i == len(rest) {
			return nil, false
		}
		out[key], text = value.String(), rest[min(i+1, len(rest)):]
	}
}
