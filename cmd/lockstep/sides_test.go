package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ended fails a test whose server does not end well.
func ended(t *testing.T, p *process) {
	t.Helper()
	if code, err := p.stop(); err != nil || code != 0 {
		t.Errorf("it ends with %d, %v:\n%s", code, err, p.stderr())
	}
}

// fetch gets a URL; one that begins with unix: is a socket, and the path follows a space.
func fetch(t *testing.T, address, path string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if socket, ok := strings.CutPrefix(address, "unix:"); ok {
		c.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}
		address = "http://localhost"
	}
	a, err := c.Get(address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// bothSidesServe asks each side for what only it has.
func bothSidesServe(t *testing.T, p *process) {
	t.Helper()
	for _, c := range []struct {
		at, path string
		want     int
	}{
		{p.url, "/api/v1/instances", 200},
		{p.url, "/api/wfx/v1/jobs", 200},
		{p.url, "/readyz", 200},
		{p.devs, "/api/wfx/v1/jobs", 200},
		{p.devs, "/health", 200},
		{p.devs, "/api/v1/instances", 404},
		{p.devs, "/metrics", 404},
	} {
		if status, text := fetch(t, c.at, c.path); status != c.want {
			t.Errorf("%s%s: %d %s", c.at, c.path, status, text)
		}
	}
}

func TestSidesOverUnixSockets(t *testing.T) {
	dir := t.TempDir()
	for what, args := range map[string][]string{
		"ours":  {"serve", "--store", "memory:", "--north", "unix:n.sock", "--south", "unix:s.sock", "--socket-mode", "0600"},
		"wfx's": {"serve", "--store", "memory:", "--scheme", "unix", "--mgmt-unix-socket", "n.sock", "--client-unix-socket", "s.sock"},
	} {
		p, err := start(dir, os.Environ(), nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []*string{&p.url, &p.devs} {
			*side = "unix:" + filepath.Join(dir, strings.TrimPrefix(*side, "unix:"))
		}
		bothSidesServe(t, p)
		mode := map[string]os.FileMode{"ours": 0o600, "wfx's": 0o660}[what]
		if info, err := os.Stat(filepath.Join(dir, "s.sock")); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: the socket: %v %v", what, info, err)
		}
		ended(t, p)
	}
}

// TestSocketActivation passes sockets to a server, as systemd does.
func TestSocketActivation(t *testing.T) {
	for _, c := range []struct {
		names string
		args  []string
	}{
		{"north:south", []string{"--scheme", "unix"}}, // names count more
		{"", []string{"--scheme", "unix"}},            // as wfx: the south first
		{"wfx.socket:wfx.socket", []string{"--scheme", "unix"}},
		{"north:south", nil},
		{"other:devices", []string{"--north", "fd:3", "--south", "systemd:devices"}},
		{"", []string{"--north", "systemd:3", "--south", "systemd:4"}},
	} {
		var files []*os.File
		var addresses []string
		for range 2 {
			l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			file, err := l.File()
			if err != nil {
				t.Fatal(err)
			}
			files, addresses = append(files, file), append(addresses, "http://"+l.Addr().String())
			_ = l.Close() // the file keeps the socket
		}
		p, err := activate(t, files, c.names, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if c.names != "north:south" && len(c.args) > 0 && c.args[0] == "--scheme" {
			slices.Reverse(addresses)
		}
		if p.url != addresses[0] || p.devs != addresses[1] {
			t.Errorf("%q: it serves %s and %s, not %v", c.names, p.url, p.devs, addresses)
		}
		bothSidesServe(t, p)
		ended(t, p)
	}
}

// activate starts a server that finds its own process id in LISTEN_PID, which only the
// process itself can know: a shell becomes the server.
func activate(t *testing.T, files []*os.File, names string, args ...string) (*process, error) {
	t.Helper()
	path := os.Getenv("PATH")
	dir := t.TempDir()
	script := "#!/bin/sh\nLISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES='" + names + "' PATH='" + path + "' exec lockstep \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lockstep"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	defer t.Setenv("PATH", path)
	defer func() {
		for _, file := range files {
			_ = file.Close()
		}
	}()
	return start(dir, os.Environ(), files, append([]string{"serve", "--store", "memory:"}, args...)...)
}

// TestNamesOfWfx: flags, variables and keys of wfx stand for ours.
func TestNamesOfWfx(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"files/fw.bin": "firmware", "wfx.yaml": "mgmt-host: 127.0.0.1\nmgmt-port: 0\nsimple-fileserver: files\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "WFX_CLIENT_HOST=127.0.0.1", "WFX_CLIENT_PORT=0")
	p, err := start(dir, env, nil, "serve", "--store", "memory:", "--config", "wfx.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(p.url, ":8081") || strings.HasSuffix(p.devs, ":8080") {
		t.Errorf("it serves %s and %s", p.url, p.devs)
	}
	bothSidesServe(t, p)
	if status, text := fetch(t, p.devs, "/download/fw.bin"); status != 200 || text != "firmware" {
		t.Errorf("the file: %d %s", status, text)
	}
	ended(t, p)
}

// TestSchemes: a side is served in several ways at once.
func TestSchemes(t *testing.T) {
	dir := t.TempDir()
	p, err := start(dir, os.Environ(), nil, "serve", "--store", "memory:", "--scheme", "http,unix", "--client-host", "127.0.0.1", "--client-port", "0", "--mgmt-port", "0",
		"--client-unix-socket", "s.sock", "--mgmt-unix-socket", "n.sock", "--log-format", "pretty", "--log-level", "trace")
	if err != nil {
		t.Fatal(err)
	}
	bothSidesServe(t, p)
	p.url, p.devs = "unix:"+filepath.Join(dir, "n.sock"), "unix:"+filepath.Join(dir, "s.sock")
	bothSidesServe(t, p)
	ended(t, p)
}

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

// TestJournal: lines for the journal have a priority and no time.
func TestJournal(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, "journald", slog.LevelDebug)
	log.Debug("d")
	log.Info("i\nj", "a", 1)
	log.With("b", 2).Warn("w")
	log.WithGroup("g").Error("e", "time", 3)
	want := "<7>msg=d\n<6>msg=\"i\\nj\" a=1\n<4>msg=w b=2\n<3>msg=e g.time=3\n"
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	out.Reset()
	newLogger(&out, "auto", slog.LevelInfo).Info("x")
	if !regexp.MustCompile(`^time=\S+ level=INFO msg=x\n$`).MatchString(out.String()) {
		t.Errorf("auto is %q", out.String())
	}
}

// TestJournalIsFound: under systemd the log is for the journal, without a word.
func TestJournalIsFound(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nexec 2>log\nJOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec lockstep \"$@\"\n"
	path := os.Getenv("PATH")
	if err := os.WriteFile(filepath.Join(dir, "lockstep"), []byte(strings.Replace(script, "exec lockstep", "PATH='"+path+"' exec lockstep", 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	p, err := start(dir, os.Environ(), nil, "serve", "--store", "memory:", "--north", "127.0.0.1:0", "--south", "none")
	if err != nil {
		t.Fatal(err)
	}
	if p.devs != "" {
		t.Errorf("devices are served at %s", p.devs)
	}
	ended(t, p)
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(text), "<6>msg=stopped\n") {
		t.Errorf("the log: %s %v", text, err)
	}
}
