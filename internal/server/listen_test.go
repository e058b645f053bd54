package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// overSocket is a client of a unix socket.
func overSocket(t *testing.T, path string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	f := newFleet(t, Listening{Address: "unix:" + path, SocketMode: 0o600}, Devices{}, nil)
	f.fill("")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v %v", info, err)
	}
	if a := f.ask(overSocket(t, path), "http://localhost", "GET", "/api/wfx/v1/jobs/"+f.jobs["dana"], ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := f.ask(overSocket(t, path), "http://any-word", "GET", "/api/wfx/v1/health", ""); a.status != 200 { // no page reaches it
		t.Errorf("%d %s", a.status, a.text)
	}
	if _, err := Listen(Listening{Address: "unix:" + path}); err == nil {
		t.Error("a socket that is in use is taken away")
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket stays behind")
	}

	// One that was left behind is replaced; another file is not.
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	again, err := Listen(Listening{Address: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != DefaultSocketMode {
		t.Errorf("the socket: %v %v", info, err)
	}
	_ = again.Close()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Listening{Address: "unix:" + path}); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("a file: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file: %q %v", text, err)
	}
}

// TestSouthIsSafe: devices of other machines need TLS, and to be told apart.
func TestSouthIsSafe(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(localhost)
	for _, c := range []struct {
		l    Listening
		safe bool
	}{
		{Listening{Address: "127.0.0.1:0"}, true},
		{Listening{Address: "0.0.0.0:0"}, false},
		{Listening{Address: "0.0.0.0:0", Tokens: true}, false},
		{Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key}, false},
		{Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key, Tokens: true}, true},
		{Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key, ClientCAFile: ca.file}, true},
		{Listening{Address: "0.0.0.0:0", Insecure: true}, true},
	} {
		c.l.Side = SouthSide
		l, err := Listen(c.l)
		if err == nil {
			_ = l.Close()
		}
		if _, unsafe := errors.AsType[*UnsafeError](err); unsafe == c.safe {
			t.Errorf("%+v: %v", c.l, err)
		}
		if _, unsafe := errors.AsType[*UnsafeError](c.l.Check()); unsafe == c.safe {
			t.Errorf("check %+v: %v", c.l, err)
		}
	}
	north := Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key, ClientCAFile: ca.file}
	if _, unsafe := errors.AsType[*UnsafeError](north.Check()); !unsafe {
		t.Error("on the north certificates of clients are enough")
	}
}

func TestListenRefuses(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(localhost)
	_, other := ca.issue(localhost)
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LISTEN_PID", "1")
	t.Setenv("LISTEN_FDS", "2")
	for _, c := range []struct {
		l    Listening
		says string
	}{
		{Listening{Address: "nonsense"}, "not host:port"},
		{Listening{Address: "unix:"}, "path"},
		{Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key, ClientCAFile: junk}, "has no certificate"},
		{Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key, ClientCAFile: junk + "x"}, "TLS: "},
		{Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: other}, "TLS: certificate " + cert + " with key " + other + ": "},
		{Listening{Address: "127.0.0.1:0", CertFile: junk, KeyFile: key}, "TLS: certificate " + junk},
		{Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: junk + "x"}, "TLS: open " + junk + "x"},
		{Listening{Address: "127.0.0.1:0", ClientCAFile: ca.file}, "need TLS"},
		{Listening{Address: "127.0.0.1:0", KeyFile: key}, "both"},
		{Listening{Address: "systemd:south"}, "no sockets were passed to this process"},
		{Listening{Address: "fd:1"}, "begin with 3"},
		{Listening{Address: "fd:x"}, "begin with 3"},
	} {
		if _, err := Listen(c.l); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.l, err, c.says)
		}
		if err := c.l.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("check %+v: %v, want %q", c.l, err, c.says)
		}
	}
	if _, err := Listen(Listening{Address: "fd:999"}); err == nil {
		t.Error("a descriptor that is not open is listened on")
	}
	if names := Inherited(); names != nil {
		t.Errorf("the sockets of another process: %v", names)
	}
	taken, err := Listen(Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	if err := (Listening{Address: taken.Addr().String()}).Check(); err != nil {
		t.Errorf("what a server uses that is to be replaced: %v", err)
	}
}

func TestDownloads(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, path string) {
		t.Helper()
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret"), "secret")
	write(filepath.Join(dir, "fw.bin"), "0123456789")
	write(filepath.Join(dir, "sub", "a b.txt"), "spaced")
	write(filepath.Join(dir, "page.html"), "<script>1</script>")
	write(filepath.Join(dir, ".hidden"), "hidden")
	write(filepath.Join(dir, ".git", "config"), "hidden")
	write(filepath.Join(dir, "sub", ".env"), "hidden")
	write(filepath.Join(dir, "index.html"), "index")
	link("fw.bin", filepath.Join(dir, "latest"))
	link(filepath.Join(outside, "secret"), filepath.Join(dir, "escape"))
	link(outside, filepath.Join(dir, "out"))
	link("../../../../../../../../etc", filepath.Join(dir, "etc"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	files, err := NewDownloads(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, Devices{}, files)
	for name, side := range map[string]string{"south": f.south, "north": f.north} {
		t.Run(name, func(t *testing.T) { servesFiles(t, f, side) })
	}
	if _, err := NewDownloads(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there is served")
	}
	release := exhaust(admit.Holder{Key: "address 192.0.2.1"}, files.places)
	if a := f.ask(http.DefaultClient, f.south, "GET", "/download/fw.bin", ""); a.status != 200 {
		t.Errorf("another has many: %d %s", a.status, a.text)
	}
	release()
	exhaust(admit.Holder{Key: "address 127.0.0.1"}, files.places)
	if a := f.ask(http.DefaultClient, f.south, "GET", "/download/fw.bin", ""); a.status != 503 || !strings.Contains(a.text, "open-downloads") {
		t.Errorf("too many: %d %s", a.status, a.text)
	}
}

// servesFiles: a side has the files of the folder, and nothing else.
func servesFiles(t *testing.T, f *fleet, side string) {
	get := func(path string, headers ...string) told {
		return f.ask(http.DefaultClient, side, "GET", path, "", headers...)
	}
	if a := get("/download/fw.bin", "Host", "evil.example"); a.status != http.StatusMisdirectedRequest || strings.Contains(a.text, "01234") {
		t.Errorf("under the name of another server: %d %s", a.status, a.text)
	}
	for path, want := range map[string]string{"/download/fw.bin": "0123456789", "/download/sub/a%20b.txt": "spaced", "/download/latest": "0123456789", "/download/index.html": "index"} {
		if a := get(path); a.status != 200 || a.text != want || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %q %v", path, a.status, a.text, a.header)
		}
	}
	for _, path := range []string{
		"/download/", "/download/sub", "/download/sub/", "/download/none", "/download/.hidden", "/download/.git/config", "/download/sub/.env", "/download/escape", "/download/out/secret",
		"/download/etc/passwd", "/download/pipe", "/download/%2e%2e/x", "/download/sub/%2e%2e/fw.bin", "/download//fw.bin", "/download/sub%2f..%2ffw.bin", "/download/fw.bin/", "/download/fw.bin%00", "/download/" + strings.Repeat("x", 5000),
	} {
		if a := get(path); a.status != 404 || strings.Contains(a.text, "secret") {
			t.Errorf("%.60s: %d %.60q", path, a.status, a.text)
		}
	}
	a := get("/download/fw.bin", "Range", "bytes=2-4")
	if a.status != 206 || a.text != "234" || a.header.Get("Content-Range") != "bytes 2-4/10" {
		t.Errorf("a range: %d %q %v", a.status, a.text, a.header)
	}
	if b := get("/download/fw.bin", "Range", "bytes=5-", "If-Range", a.header.Get("ETag")); b.status != 206 || b.text != "56789" {
		t.Errorf("going on: %d %q", b.status, b.text)
	}
	if b := get("/download/fw.bin", "Range", "bytes=5-", "If-Range", `"other"`); b.status != 200 {
		t.Errorf("going on with another file: %d", b.status)
	}
	if b := get("/download/fw.bin", "If-None-Match", a.header.Get("ETag")); b.status != 304 {
		t.Errorf("a file that is known: %d", b.status)
	}
	if b := get("/download/fw.bin", "Range", "bytes=50-"); b.status != 416 {
		t.Errorf("beyond the end: %d", b.status)
	}
	for _, method := range []string{"PUT", "POST", "DELETE", "PATCH"} {
		if a := f.ask(http.DefaultClient, side, method, "/download/fw.bin", "x"); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, a.status)
		}
	}
	if a := f.ask(http.DefaultClient, side, "HEAD", "/download/fw.bin", ""); a.status != 200 || a.text != "" || a.header.Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d %q", a.status, a.text)
	}
}

// TestDownloadsNeedTheCredential: where devices are told apart, strangers get no files.
func TestDownloadsNeedTheCredential(t *testing.T) {
	token, hash := NewToken()
	viewer, second := NewToken()
	tokens, err := ParseTokens([]byte(`{name: d, role: device, client: dana, hash: "` + hash + `"}` + "\n" + `{name: v, role: viewer, hash: "` + second + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	devices := Devices{Tokens: tokens}
	files, err := NewDownloads(dir, devices.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, devices, files)
	for bearer, want := range map[string]int{"": 401, "ls_wrong": 401, token: 403, viewer: 200} {
		if a := f.ask(http.DefaultClient, f.north, "GET", "/download/f", "", "Authorization", "Bearer "+bearer); a.status != want || (a.text == "x") != (want == 200) {
			t.Errorf("on the north with %q: %d %s, want %d", bearer, a.status, a.text, want)
		}
	}
	for bearer, want := range map[string]int{"": 401, "ls_wrong": 401, token: 200, viewer: 200} {
		a := f.ask(http.DefaultClient, f.south, "GET", "/download/f", "", "Authorization", "Bearer "+bearer)
		if a.status != want || (a.header.Get("WWW-Authenticate") != "") != (want == 401) {
			t.Errorf("with %q: %d", bearer, a.status)
		}
	}
	if a := f.ask(http.DefaultClient, f.south, "GET", "/download/f", "", "Authorization", "Bearer "+token, "X-Client-Id", "eve"); a.status != 403 {
		t.Errorf("as eve: %d", a.status)
	}
}
