package main

import (
	"net"
	"net/url"
	"os"
	"strings"
)

// wfxStore is the --store that wfx's --storage and --storage-opt stand for; "" where they say
// nothing. What they say may have a password: no message repeats it.
func wfxStore(kind, options string) (string, error) {
	switch {
	case kind == "" && options == "":
		return "", nil
	case kind == "" || kind == "sqlite":
		return wfxFile(options), nil
	case kind == "postgres":
		return wfxDatabase(options)
	}
	return "", usagef("--storage: there is sqlite and postgres")
}

// wfxFile takes the file out of an address of SQLite: file:NAME?options. How a file is opened,
// the store knows by itself.
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

// wfxDatabase makes an address of PostgreSQL of keys and values, as libpq reads them; the rest
// libpq's variables say.
func wfxDatabase(options string) (string, error) {
	if strings.Contains(options, "://") {
		return options, nil
	}
	values, ok := keysAndValues(options)
	for name, value := range values { // host=h;password=… is one value
		ok = ok && (strings.Contains(name, "password") || !passwordIn.MatchString(value))
	}
	if !ok {
		return "", usagef("--storage-opt is neither an address of PostgreSQL (postgres://…) nor keys and values like host=… dbname=…")
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
	at := url.URL{Scheme: sharedKind, Path: "/" + take("PGDATABASE", user, "dbname", "database")}
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
	if user == "" && password != "" { // of the user whose process this is
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

// blanks are what libpq takes for a space.
const blanks = " \t\n\v\f\r"

// keysAndValues reads key=value, separated by spaces; a value in quotes may have some, and a
// backslash stands before a quote or a backslash.
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
