package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// door is a route of either side, as a client sees it.
type door struct {
	side         wfx.Side
	method, path string
	operation    string
	allowed      []Role // nil: everybody
	cost         cost
	body         bool
}

func (d door) String() string {
	return map[wfx.Side]string{wfx.North: "north ", wfx.South: "south "}[d.side] + d.method + " " + d.path
}

// doors are all routes of both sides.
func doors() (out []door) {
	path := strings.NewReplacer("{definition}", "none", "{instance}", "none", "{ticket}", "1.1", "{code}", "not-found",
		"{schema}", "0.5.json", "{name}", "none", "{id}", "59bc9534-0000-4000-8000-000000000000")
	for _, rt := range routes {
		out = append(out, door{wfx.North, rt.method, path.Replace(rt.path), rt.operation, rt.roles, rt.cost, rt.method == "POST"})
	}
	for _, op := range wfx.Operations {
		method, at := op.Route()
		cost := jobCost(&op, httptest.NewRequest(method, "/", nil))
		out = append(out, door{wfx.North, method, path.Replace(at), op.ID, access[op.Access], cost, op.Body()})
		south := []Role{Device, Operator, Admin}
		switch {
		case op.Access == wfx.Open:
			south = nil
		case method == "GET":
			south = append(south, Viewer, Author)
		case op.Access != wfx.Operate || op.ID == "deleteJob" || strings.Contains(op.ID, "Tags"):
			south = []Role{} // nobody
		}
		out = append(out, door{wfx.South, method, path.Replace(at), op.ID, south, cost, op.Body()})
	}
	return out
}

// knock makes a request of a door, with a token or none, and a body.
func (w *world) knock(d door, token string, body io.Reader, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(d.method, "http://localhost"+d.path, body)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, f := range change {
		f(r)
	}
	handler := w.server.Handler()
	if d.side == wfx.South {
		handler = w.server.South()
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, r)
	return rec
}

// endless is a body without an end that counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// tokenWorld is a server with tokens on both sides.
func tokenWorld(t *testing.T, change func(*Config)) (*world, map[Role]string) {
	byRole, tokens := tokensOf(t)
	return newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Tokens, c.Client = tokens, Devices{Tokens: tokens}.Client
		if change != nil {
			change(c)
		}
	}), byRole
}

// TestNoBodyOfAStranger walks every route of both sides, without a credential, with a wrong
// one, and with those of all roles that may not: no byte of the body is read. Where nobody
// needs a credential, little is.
func TestNoBodyOfAStranger(t *testing.T) {
	w, byRole := tokenWorld(t, nil)
	certificates := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Client = Devices{Certificates: CommonName}.Client
	})
	for _, d := range doors() {
		strangers := map[string]string{"nobody": "", "a wrong token": "ls_wrong"}
		for _, role := range Roles {
			if !slices.Contains(d.allowed, role) {
				strangers[string(role)] = byRole[role]
			}
		}
		for name, token := range strangers {
			body := &endless{}
			rec := w.knock(d, token, body)
			switch {
			case d.allowed == nil && body.read > int(DefaultLimits.OpenBody)+1:
				t.Errorf("%s by %s: %d bytes of the body are read", d, name, body.read)
			case d.allowed == nil:
			case rec.Code != http.StatusUnauthorized && rec.Code != http.StatusForbidden:
				t.Errorf("%s by %s: %d %s", d, name, rec.Code, rec.Body)
			case body.read > 0:
				t.Errorf("%s by %s: %d bytes of the body are read before it is refused with %d", d, name, body.read, rec.Code)
			case rec.Header().Get("Connection") != "close":
				t.Errorf("%s by %s: the rest of the body would be read", d, name)
			}
		}
		if d.side == wfx.South && d.allowed != nil {
			body := &endless{}
			if rec := certificates.knock(d, "", body); rec.Code != http.StatusUnauthorized || body.read > 0 {
				t.Errorf("%s without a certificate: %d, %d bytes read", d, rec.Code, body.read)
			}
		}
	}
	for _, p := range []*pools{w.server.north, w.server.south, w.server.open, certificates.server.south} {
		if n := p.used(); n != 0 {
			t.Errorf("%d places are still taken", n)
		}
	}
}

// used is what is taken of all pools of a side.
func (p *pools) used() (n int64) {
	for _, pool := range p.all() {
		n += pool.Used()
	}
	return n
}

func (p *pools) all() []*admit.Pool {
	list := []*admit.Pool{p.requests, p.arriving, p.waiting, p.streams, p.heavy, p.arrivingBytes, p.pendingBytes}
	return slices.DeleteFunc(list, func(p *admit.Pool) bool { return p == nil })
}

// exhaust takes all that a holder can get of pools.
func exhaust(who admit.Holder, pools ...*admit.Pool) (release func()) {
	var places []*admit.Place
	for _, pool := range pools {
		n := int64(1)
		if strings.HasSuffix(pool.Name(), "-bytes") {
			n = 1 << 20
		}
		for ; n > 0; n /= 2 {
			for {
				place, err := pool.Take(who, n)
				if err != nil {
					break
				}
				places = append(places, place)
			}
		}
	}
	return func() {
		for _, place := range places {
			place.Release()
		}
	}
}

// TestOneCannotKeepOthersOut: one credential holds all that it can get of every pool of its
// side. It is refused then; requests of others, of every route, are let in.
func TestOneCannotKeepOthersOut(t *testing.T) {
	w, byRole := tokenWorld(t, func(c *Config) { c.Limits.HeavyWait = 1 })
	south := Devices{Tokens: w.server.cfg.Tokens}
	if id, _, err := south.Client(&http.Request{Method: "GET", Header: http.Header{"Authorization": {"Bearer " + byRole[Device]}}}); id != "c" || err != nil {
		t.Fatal(id, err)
	}
	all := append(append(w.server.north.all(), w.server.plays), w.server.south.all()...)
	exhaust(admit.Holder{Key: "token t-admin"}, all...)
	exhaust(admit.Holder{Key: "client c", Device: true}, w.server.south.all()...)
	exhaust(admit.Holder{Key: "address 192.0.2.1"}, w.server.open.all()...)
	body := func(d door) io.Reader {
		if d.body {
			return strings.NewReader(`{"token":"x"}`)
		}
		return http.NoBody
	}
	stop := func(r *http.Request) { // a stream that is let in ends with its client
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		*r = *r.WithContext(ctx)
	}
	for _, d := range doors() {
		streams := strings.Contains(d.operation, "stream") || d.operation == "followJobs"
		ask := func(who string, change ...func(*http.Request)) int {
			if streams {
				change = append(change, stop)
			}
			return w.knock(d, who, body(d), change...).Code
		}
		elsewhere := func(r *http.Request) { r.RemoteAddr = "192.0.2.2:1" }
		if d.allowed == nil {
			if code := ask("", elsewhere); code == http.StatusTooManyRequests {
				t.Errorf("%s of another address: %d", d, code)
			}
			continue
		}
		limited := d.cost != free || streams
		if code := ask(byRole[Admin]); limited && slices.Contains(d.allowed, Admin) && code != http.StatusTooManyRequests {
			t.Errorf("%s of one who holds everything it can: %d", d, code)
		}
		for _, role := range d.allowed {
			if role == Admin || role == Device && d.side == wfx.South {
				continue
			}
			if code := ask(byRole[role]); code == http.StatusTooManyRequests {
				t.Errorf("%s of another credential (%s): %d", d, role, code)
			}
		}
		if d.side == wfx.South && slices.Contains(d.allowed, Device) && limited {
			if code := ask(byRole[Device]); code != http.StatusTooManyRequests {
				t.Errorf("%s of the device that holds everything it can: %d", d, code)
			}
		}
	}
}

// TestSidesAreApart: many credentials that hold everything on one side keep nobody out of
// the other, nor do requests without a credential.
func TestSidesAreApart(t *testing.T) {
	w, byRole := tokenWorld(t, nil)
	jobs := door{side: wfx.South, method: "GET", path: "/api/wfx/v1/jobs"}
	stats := door{side: wfx.North, method: "GET", path: "/api/v1/stats"}
	login := door{side: wfx.North, method: "POST", path: "/api/v1/session"}
	codes := func() string {
		return fmt.Sprint(w.knock(stats, byRole[Viewer], nil).Code, w.knock(jobs, byRole[Device], nil).Code,
			w.knock(login, "", strings.NewReader(`{"token":"x"}`)).Code)
	}
	for _, c := range []struct {
		pools *pools
		want  string
	}{{w.server.north, "429 200 401"}, {w.server.south, "200 429 401"}, {w.server.open, "200 200 429"}} {
		var release []func()
		for i := range 8 {
			release = append(release, exhaust(admit.Holder{Key: fmt.Sprint("other ", i)}, c.pools.all()...))
		}
		if got := codes(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		for _, f := range release {
			f()
		}
		if got := codes(); got != "200 200 401" {
			t.Errorf("%s when all is free again", got)
		}
	}
}

// TestMemoryLimit: above it requests that cost much are refused, on every route; health,
// interventions and small reads go on.
func TestMemoryLimit(t *testing.T) {
	w, byRole := tokenWorld(t, nil)
	var live, used uint64
	w.server.memory = admit.MemoryFrom(1000, func() (uint64, uint64) { return live, used })
	for _, d := range doors() {
		if d.cost == free || len(d.allowed) == 0 {
			continue
		}
		ask := func() *httptest.ResponseRecorder { return w.knock(d, byRole[d.allowed[0]], strings.NewReader(`{}`)) }
		live = 501
		if a := ask(); (a.Code == http.StatusTooManyRequests) != (d.cost == heavy) {
			t.Errorf("%s where memory is tight: %d %s", d, a.Code, a.Body)
		}
		for name, body := range map[string]io.Reader{"large": strings.NewReader(strings.Repeat(" ", largeBody+1)), "of unknown length": io.MultiReader(strings.NewReader("{}"))} {
			if a := w.knock(d, byRole[d.allowed[0]], body); d.body && (a.Code == http.StatusTooManyRequests) != (d.cost > light) {
				t.Errorf("%s, its body is %s, where memory is tight: %d %s", d, name, a.Code, a.Body)
			}
		}
		live = 751
		if a := ask(); (a.Code == http.StatusTooManyRequests) != (d.cost > light) {
			t.Errorf("%s above the limit: %d %s", d, a.Code, a.Body)
		} else if d.cost > light && (a.Header().Get("Retry-After") == "" || !strings.Contains(a.Body.String(), "limit memory")) {
			t.Errorf("%s above the limit: %s %v", d, a.Body, a.Header())
		}
		live = 499
		if a := ask(); a.Code == http.StatusTooManyRequests {
			t.Errorf("%s below the limit: %d %s", d, a.Code, a.Body)
		}
	}
	for _, always := range []string{"healthz", "readyz", "metrics", "getInstance", "cancelInstance", "terminateInstance", "getHealth", "getStatus"} {
		if i := slices.IndexFunc(doors(), func(d door) bool { return d.operation == always }); i < 0 || doors()[i].cost > light {
			t.Errorf("%s does not go on", always)
		}
	}
	used = 555
	w.token = byRole[Viewer]
	w.get("/metrics").want(200).says("lockstep_memory_bytes 555\n").says("lockstep_memory_limit_bytes 1000\n")
}

// TestAddresses: one machine with many addresses is one.
func TestAddresses(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::", "[2001:db8:1:2:ffff::]:1": "2001:db8:1:2::",
		"[::ffff:192.0.2.1]:9": "192.0.2.1", "[fe80::1%eth0]:9": "fe80::", "@": "local", "": "local",
	} {
		if got := addressOf(&http.Request{RemoteAddr: remote}).Key; got != "address "+want {
			t.Errorf("%q is %q", remote, got)
		}
	}
}
