package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
