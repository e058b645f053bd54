package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// fleet is a server with both sides, a workflow, and a job for each of two devices.
type fleet struct {
	t     *testing.T
	world *world
	south string // URL
	north string
	jobs  map[string]string
	stop  func() error
}

const twoStates = `{"name":"w","states":[{"name":"NEW"},{"name":"DONE"}],"transitions":[{"from":"NEW","to":"DONE","eligible":"CLIENT"}]}`

// newFleet serves the south where l says; north tokens are those of the devices' side.
func newFleet(t *testing.T, l Listening, devices Devices, files *Downloads) *fleet {
	t.Helper()
	f := &fleet{t: t, jobs: map[string]string{}}
	f.world = newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Registry, c.Tokens, c.Downloads = dialect.NewRegistry(wfxdef.FrontEnd{}), devices.Tokens, files
		if devices != (Devices{}) {
			c.Client = devices.Client
		}
	})
	l.Side = SouthSide
	south, err := Listen(l)
	if err != nil {
		t.Fatal(err)
	}
	north, err := Listen(Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	f.south, f.north = "http://"+south.Addr().String(), "http://"+north.Addr().String()
	if l.CertFile != "" {
		f.south = "https://" + south.Addr().String()
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- f.world.server.ServeSides(ctx, Listeners{North: []net.Listener{north}, South: []net.Listener{south}})
	}()
	over := false
	f.stop = func() error {
		if over {
			return nil
		}
		over = true
		cancel()
		return <-served
	}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// fill makes the workflow and a job for each client, as an operator.
func (f *fleet) fill(token string) {
	f.t.Helper()
	ask := func(path, body string) expr.Value {
		a := f.ask(http.DefaultClient, f.world.url, "POST", path, body, "Authorization", "Bearer "+token)
		if a.status != http.StatusCreated {
			f.t.Fatalf("%s: %d %s", path, a.status, a.text)
		}
		v, err := expr.ParseJSON([]byte(a.text))
		if err != nil {
			f.t.Fatal(err)
		}
		return v
	}
	ask("/api/wfx/v1/workflows", twoStates)
	for _, client := range []string{"dana", "eve"} {
		id, _ := ask("/api/wfx/v1/jobs", `{"clientId":"`+client+`","workflow":"w"}`).Get("id")
		f.jobs[client] = id.Str()
	}
}

type told struct {
	status int
	text   string
	header http.Header
	proto  int
}

func (f *fleet) ask(c *http.Client, base, method, path, body string, headers ...string) told {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "Bearer " {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	a, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return told{a.StatusCode, string(text), a.Header, a.ProtoMajor}
}

// southOperations is every operation of the south, with whether a device may do it.
func southOperations(job string) []struct {
	method, path, body string
	own, foreign       int // what a device gets for its own job, and for another's
} {
	at := "/api/wfx/v1/jobs/" + job
	return []struct {
		method, path, body string
		own, foreign       int
	}{
		{"GET", "/api/wfx/v1/workflows", "", 200, 200},
		{"GET", "/api/wfx/v1/workflows/w", "", 200, 200},
		{"GET", "/api/wfx/v1/jobs", "", 200, 200},
		{"GET", at, "", 200, 404},
		{"GET", at + "/status", "", 200, 404},
		{"GET", at + "/definition", "", 200, 404},
		{"GET", at + "/tags", "", 200, 404},
		{"PUT", at + "/definition", `{"a":1}`, 200, 404},
		{"PUT", at + "/status", `{"state":"NEW","progress":1}`, 200, 404},
		{"POST", "/api/wfx/v1/workflows", twoStates, 403, 403},
		{"DELETE", "/api/wfx/v1/workflows/w", "", 403, 403},
		{"POST", "/api/wfx/v1/jobs", `{"clientId":"x","workflow":"w"}`, 403, 403},
		{"DELETE", at, "", 403, 403},
		{"POST", at + "/tags", `["a"]`, 403, 403},
		{"DELETE", at + "/tags", `["a"]`, 403, 403},
	}
}

// TestSouthByRole walks every operation of the south × role, and no token.
func TestSouthByRole(t *testing.T) {
	byRole := map[Role]string{}
	var file strings.Builder
	for _, role := range Roles {
		token, hash := NewToken()
		byRole[role] = token
		fmt.Fprintf(&file, "{name: t-%s, role: %s, hash: %q, client: dana}\n", role, role, hash)
	}
	tokens, err := ParseTokens([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, Devices{Tokens: tokens}, nil)
	f.fill(byRole[Admin])
	for _, whose := range []string{"dana", "eve"} {
		for _, op := range southOperations(f.jobs[whose]) {
			ask := func(token string, headers ...string) told {
				return f.ask(http.DefaultClient, f.south, op.method, op.path, op.body, append(headers, "Authorization", "Bearer "+token)...)
			}
			for _, bad := range []string{"", "ls_wrong"} {
				if a := ask(bad); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s %s with the token %q: %d %s", op.method, op.path, bad, a.status, a.text)
				}
			}
			for _, role := range Roles {
				want := op.own
				switch {
				case role == Device && whose == "eve":
					want = op.foreign
				case role == EventProducer, (role == Viewer || role == Author) && op.method != "GET":
					want = 403
				}
				if a := ask(byRole[role]); a.status != want {
					t.Errorf("%s %s of %s as %s: %d %s, want %d", op.method, op.path, whose, role, a.status, a.text, want)
				}
			}
			if a := ask(byRole[Device], "X-Client-Id", "eve"); a.status != 403 {
				t.Errorf("%s %s as dana who says that she is eve: %d %s", op.method, op.path, a.status, a.text)
			}
			if a := ask(byRole[Device], "X-Client-Id", "dana"); a.status == 401 {
				t.Errorf("%s %s as dana who says so: %d %s", op.method, op.path, a.status, a.text)
			}
		}
	}
	list := func(token string, headers ...string) string {
		return f.ask(http.DefaultClient, f.south, "GET", "/api/wfx/v1/jobs", "", append(headers, "Authorization", "Bearer "+token)...).text
	}
	if text := list(byRole[Device]); !strings.Contains(text, f.jobs["dana"]) || strings.Contains(text, "eve") {
		t.Errorf("dana's list: %s", text)
	}
	if text := list(byRole[Operator]); !strings.Contains(text, "dana") || !strings.Contains(text, "eve") {
		t.Errorf("the operator's list: %s", text)
	}
	if text := list(byRole[Operator], "X-Client-Id", "eve"); strings.Contains(text, "dana") || !strings.Contains(text, "eve") {
		t.Errorf("the list of a gateway for eve: %s", text)
	}
	for path, want := range map[string]int{"/health": 200, "/version": 200, "/": 204, "/api/v1/instances": 404, "/metrics": 404, "/readyz": 404, "/api/wfx/v1/openapi.json": 200, "/download/x": 404} {
		if a := f.ask(http.DefaultClient, f.south, "GET", path, ""); a.status != want {
			t.Errorf("the south serves %s with %d", path, a.status)
		}
	}
	for _, role := range Roles { // the stream, which does not end
		a := f.ask(http.DefaultClient, f.south, "GET", "/api/wfx/v1/jobs/events?actions=NOSUCH", "", "Authorization", "Bearer "+byRole[role])
		if denied := a.status == 403; denied != (role == EventProducer) || a.status == 401 || a.status == 200 {
			t.Errorf("the stream as %s: %d %s", role, a.status, a.text)
		}
	}
}

// TestSouthWithoutCredentials: a client says who it is, or not, as with wfx.
func TestSouthWithoutCredentials(t *testing.T) {
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, Devices{}, nil)
	f.fill("")
	for _, op := range southOperations(f.jobs["dana"]) {
		for header, want := range map[string]int{"dana": op.own, "eve": op.foreign} {
			if a := f.ask(http.DefaultClient, f.south, op.method, op.path, op.body, "X-Client-Id", header); a.status != want {
				t.Errorf("%s %s as %s: %d %s, want %d", op.method, op.path, header, a.status, a.text, want)
			}
		}
		if a := f.ask(http.DefaultClient, f.south, op.method, op.path, op.body); a.status != op.own {
			t.Errorf("%s %s as nobody: %d %s", op.method, op.path, a.status, a.text)
		}
	}
}

// TestBothSidesStop: streams of both end, and what is in flight is answered.
func TestBothSidesStop(t *testing.T) {
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, Devices{}, nil)
	f.fill("")
	a, err := http.Get(f.south + "/api/wfx/v1/jobs/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(a.Body); err != nil {
		t.Errorf("the stream breaks off: %v", err)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(f.south, "http://")); err == nil {
		t.Error("the south still listens")
	}
}

// TestNorthOverHTTP2: operators get HTTP/2 under TLS, streams included, and a stream ends
// with the server.
func TestNorthOverHTTP2(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(localhost)
	f := &fleet{t: t, jobs: map[string]string{}}
	f.world = newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Registry = dialect.NewRegistry(wfxdef.FrontEnd{}) })
	l, err := Listen(Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- f.world.server.Serve(ctx, l) }()
	a, err := ca.client(ca.file, true, nil).Get("https://" + l.Addr().String() + "/api/v1/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if a.ProtoMajor != 2 || a.StatusCode != 200 {
		t.Fatalf("HTTP/%d %d", a.ProtoMajor, a.StatusCode)
	}
	f.fill("")
	lines := bufio.NewScanner(a.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), f.jobs["dana"]) {
	}
	if lines.Err() != nil || !strings.Contains(lines.Text(), f.jobs["dana"]) {
		t.Fatalf("the stream ends before it tells of the job: %v", lines.Err())
	}
	cancel()
	for lines.Scan() {
	}
	if lines.Err() != nil {
		t.Errorf("the stream breaks off: %v", lines.Err())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
