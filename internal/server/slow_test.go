package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// pipeListener is a listener whose connections are pipes: nothing is buffered on the way, and
// their deadlines go by the clock of the test.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipeListener) dial() net.Conn {
	mine, theirs := net.Pipe()
	p.conns <- theirs
	return mine
}

// inPipes serves the north by pipes, under virtual time, with a definition of 1 MiB.
func inPipes(t *testing.T, limits Limits, f func(s *Server, dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(engine.Config{Store: newMemory(), Invoker: &functions{set: map[string]func(effect.Call) effect.Outcome{}}, Languages: languages()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{Engine: e, Registry: dialect.NewRegistry(sw05.FrontEnd{}), Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		large := read(t, "testdata/hello.yaml") + "# " + strings.Repeat("x", 1<<20) + "\n"
		rec := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "http://localhost/api/v1/definitions", strings.NewReader(large))
		r.Header.Set("Content-Type", "application/yaml")
		if s.Handler().ServeHTTP(rec, r); rec.Code != http.StatusCreated {
			t.Fatal(rec.Code, rec.Body)
		}
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		h := s.httpServer(s.Handler())
		served := make(chan error, 1)
		go func() { served <- h.Serve(l) }()
		f(s, l.dial)
		_ = h.Close()
		<-served
		s.Stop()
		<-time.After(time.Second) // net/http lets connections linger
		synctest.Wait()
		if n := s.north.used() + s.open.used(); n != 0 {
			t.Errorf("%d places are still taken", n)
		}
	})
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// TestSlowBodiesAreCut: a body that does not come, or that drips, is given up when it falls
// behind the minimum rate, long before the time for a whole request is over.
func TestSlowBodiesAreCut(t *testing.T) {
	for _, at := range []string{"/api/v1/definitions/hello/instances", "/api/v1/session"} {
		for _, drips := range []bool{false, true} {
			inPipes(t, Limits{}, func(s *Server, dial func() net.Conn) {
				c := dial()
				begun := time.Now()
				send(t, c, "POST "+at+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3000\r\n\r\n{")
				synctest.Wait()
				if n := s.north.requests.Used() + s.open.requests.Used(); n != 0 {
					t.Errorf("%s: %d are in flight before the body is there", at, n)
				}
				if n := s.north.arriving.Used(); n != 1 && at != "/api/v1/session" {
					t.Errorf("%s: %d are arriving", at, n)
				}
				stop := make(chan struct{})
				if drips {
					go drip(c, stop)
				}
				a, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(begun)
				if a.StatusCode != http.StatusRequestTimeout || took < 10*time.Second || took > 11*time.Second {
					t.Errorf("%s, drips: %v: %d after %s", at, drips, a.StatusCode, took)
				}
				close(stop)
				_ = c.Close()
			})
		}
	}
}

// drip sends a byte a second.
func drip(c net.Conn, stop chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, err := c.Write([]byte(" ")); err != nil {
				return
			}
		case <-stop:
			return
		}
	}
}

const largeRead = "GET /api/v1/definitions/hello/source HTTP/1.1\r\nHost: localhost\r\n\r\n"

// TestSlowReaders: an answer that nobody reads holds none of the places of requests, only
// its bytes; when it falls behind the minimum rate it is cut, and they are free again.
func TestSlowReaders(t *testing.T) {
	inPipes(t, Limits{}, func(s *Server, dial func() net.Conn) {
		c := dial()
		begun := time.Now()
		send(t, c, largeRead)
		synctest.Wait()
		if n := s.north.requests.Used(); n != 0 {
			t.Errorf("%d are in flight while the client reads", n)
		}
		if n := s.north.pendingBytes.Used(); n < 1<<20 || n > 1<<20+1000 {
			t.Errorf("%d bytes are pending", n)
		}
		if _, err := io.ReadFull(c, make([]byte, 300<<10)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := s.north.pendingBytes.Used(); n > 1<<20-(200<<10) {
			t.Errorf("%d bytes are pending after some were read", n)
		}
		for s.north.pendingBytes.Used() > 0 { // until it is cut
			<-time.After(time.Second)
		}
		if took := time.Since(begun); took > s.limits.WriteTimeout+time.Second {
			t.Errorf("it was cut after %s", took)
		}
		if rest, _ := io.ReadAll(c); len(rest) >= 700<<10 {
			t.Errorf("the rest came, %d bytes", len(rest))
		}
	})
}

// TestSlowReadersOfThePlayground: who does not read what the playground says keeps nobody from
// it, nor from compiling.
func TestSlowReadersOfThePlayground(t *testing.T) {
	wrong := playRemind + strings.Repeat("- {name: Send, type: none}\n", 90)
	for name, definition := range map[string]string{"runs": playRemind, "does not compile": wrong} {
		inPipes(t, Limits{}, func(s *Server, dial func() net.Conn) {
			c := dial()
			body, err := json.Marshal(map[string]string{"definition": definition})
			if err != nil {
				t.Fatal(err)
			}
			send(t, c, fmt.Sprintf("POST /api/v1/playground HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
			synctest.Wait()
			if n := s.plays.Used() + s.compiles.Used(); n != 0 {
				t.Errorf("%s: %d places are taken while the client reads", name, n)
			}
			if s.north.pendingBytes.Used() == 0 {
				t.Errorf("%s: nothing is left to read", name)
			}
			if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("%s: %v %v", name, a, err)
			}
			_ = c.Close()
		})
	}
}

// TestUnreadAnswersAreBounded: who reads nothing gets no more large answers; small ones,
// and what others ask for, are served. What was changed is told.
func TestUnreadAnswersAreBounded(t *testing.T) {
	inPipes(t, Limits{PendingBytes: 8 << 20, OpenBody: 1 << 10}, func(s *Server, dial func() net.Conn) {
		var slow []net.Conn
		for range 5 { // a quarter of the pool is 2 MiB: the second is too much
			c := dial()
			send(t, c, largeRead)
			slow = append(slow, c)
		}
		synctest.Wait()
		codes := map[int]int{}
		for _, c := range slow {
			a, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			codes[a.StatusCode]++
			if a.StatusCode == http.StatusTooManyRequests {
				if text, _ := io.ReadAll(a.Body); a.Header.Get("Retry-After") == "" || !strings.Contains(string(text), `"limit":"responses-pending-bytes"`) {
					t.Errorf("%s %v", text, a.Header)
				}
			}
		}
		if codes[200] != 1 || codes[429] != 4 {
			t.Errorf("codes %v", codes)
		}
		ask := func(remote, method, path, body string) int {
			rec := httptest.NewRecorder()
			r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
			r.RemoteAddr = remote
			r.Header.Set("Content-Type", "application/json")
			s.Handler().ServeHTTP(rec, r)
			return rec.Code
		}
		large := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
		for _, c := range []struct {
			remote, method, path, body string
			want                       int
		}{
			{"", "GET", "/api/v1/definitions/hello", "", 200},
			{"", "GET", "/api/v1/definitions/hello/source", "", 429},
			{"", "POST", "/api/v1/definitions/hello/instances", large, 200},
			{"192.0.2.9:1", "GET", "/api/v1/definitions/hello/source", "", 200},
		} {
			if got := ask(c.remote, c.method, c.path, c.body); got != c.want {
				t.Errorf("%s %s of %q: %d, want %d", c.method, c.path, c.remote, got, c.want)
			}
		}
		for _, c := range slow {
			_ = c.Close()
		}
	})
}

// TestUnfinishedBodiesAreCounted: what counts is the room that bodies take, whatever length
// the client says, and one client gets its share of it.
func TestUnfinishedBodiesAreCounted(t *testing.T) {
	inPipes(t, Limits{}, func(s *Server, dial func() net.Conn) {
		const length = 3_900_000
		var conns []net.Conn
		refused := 0
		for range 30 {
			c := dial()
			conns = append(conns, c)
			send(t, c, fmt.Sprintf("POST /api/v1/definitions/hello/instances HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length))
			synctest.Wait()
			if n := s.north.arrivingBytes.Used() - int64(len(conns)-1-refused)*(length+1); n > firstBytes {
				t.Fatalf("%d bytes are kept of a body of which nothing came", n)
			}
			go func() { _, _ = io.WriteString(c, strings.Repeat(" ", length-1)) }()
			synctest.Wait()
			if s.north.arriving.Used() < int64(len(conns)-refused) {
				refused++
			}
		}
		most := s.limits.ArrivingBytes / 4
		if n := s.north.arrivingBytes.Used(); n > most || n != int64(30-refused)*(length+1) || refused == 0 {
			t.Errorf("%d bytes are kept of %d bodies, %d were refused", n, 30-refused, refused)
		}
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// TestEveryFilterTakesAPlace: response filters and histories, however small, are few at a
// time; where none is free the request is refused before it changes anything.
func TestEveryFilterTakesAPlace(t *testing.T) {
	f := newFleet(t, Listening{Address: "127.0.0.1:0"}, Devices{}, nil)
	f.fill("")
	f.world.server.limits.HeavyWait = 1
	at := "/api/wfx/v1/jobs/" + f.jobs["dana"]
	status := door{side: wfx.South, method: "PUT", path: at + "/status"}
	list := door{side: wfx.South, method: "GET", path: "/api/wfx/v1/jobs?limit=1"}
	history := door{side: wfx.South, method: "GET", path: at + "?history=true"}
	filtered := func(r *http.Request) { r.Header.Set("X-Response-Filter", ".") }
	done := func() io.Reader { return strings.NewReader(`{"state":"DONE"}`) }
	release := []func(){exhaust(admit.Holder{Key: "a"}, f.world.server.south.heavy), exhaust(admit.Holder{Key: "b"}, f.world.server.south.heavy)}
	for name, a := range map[string]*httptest.ResponseRecorder{
		"filtered list": f.world.knock(list, "", nil, filtered), "history": f.world.knock(history, "", nil), "filtered update": f.world.knock(status, "", done(), filtered),
	} {
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || !strings.Contains(a.Body.String(), "heavy-requests") {
			t.Errorf("%s: %d %s %v", name, a.Code, a.Body, a.Header())
		}
	}
	if a := f.world.knock(list, "", nil); a.Code != 200 || strings.Contains(a.Body.String(), "DONE\",\"clientId") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := f.world.knock(door{side: wfx.South, method: "GET", path: at + "/status"}, "", nil); !strings.Contains(a.Body.String(), `"NEW"`) {
		t.Errorf("it was changed: %s", a.Body)
	}
	for _, r := range release {
		r()
	}
	if a := f.world.knock(status, "", done(), filtered); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if n := f.world.server.south.used(); n != 0 {
		t.Errorf("%d places are still taken", n)
	}
}

// TestLongListsTakePlaces: whoever asks for all jobs there are makes the first part of the
// list like any other request, and each further one in a place of heavy answers. It waits
// for that with no other place, for as long as its client does.
func TestLongListsTakePlaces(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e, err := engine.New(engine.Config{Store: newMemory(), Invoker: &functions{set: map[string]func(effect.Call) effect.Outcome{}}, Languages: languages()})
			if err != nil {
				t.Fatal(err)
			}
			s, err := New(Config{Engine: e, Registry: dialect.NewRegistry(wfxdef.FrontEnd{})})
			if err != nil {
				t.Fatal(err)
			}
			w := &world{server: s}
			const jobs = 12
			post := func(path, body string) {
				if rec := w.knock(door{wfx.North, "POST", path, "", nil, normal, true}, "", strings.NewReader(body)); rec.Code != http.StatusCreated {
					t.Fatal(rec.Code, rec.Body)
				}
			}
			post("/api/wfx/v1/workflows", twoStates)
			for range jobs {
				post("/api/wfx/v1/jobs", `{"clientId":"c","workflow":"w","definition":{"x":"`+strings.Repeat("x", 30_000)+`"}}`)
			}
			release := []func(){exhaust(admit.Holder{Key: "a"}, s.north.heavy), exhaust(admit.Holder{Key: "b"}, s.north.heavy)}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer := make(chan *httptest.ResponseRecorder, 1)
			broke := make(chan any, 1)
			go func() {
				defer func() { broke <- recover() }()
				answer <- w.knock(door{side: wfx.North, method: "GET", path: "/api/wfx/v1/jobs?limit=0"}, "", nil, func(r *http.Request) { *r = *r.WithContext(ctx) })
			}()
			<-time.After(time.Minute)
			synctest.Wait()
			if len(answer)+len(broke) != 0 {
				t.Fatal("the whole list was made, though no place was free")
			}
			if n := s.north.used() - s.north.heavy.Used(); n != 0 {
				t.Errorf("it waits with %d other places", n)
			}
			if leaves {
				leave()
				if v := <-broke; v != http.ErrAbortHandler {
					t.Errorf("the client left: %v", v)
				}
			}
			for _, r := range release {
				r()
			}
			if !leaves {
				if a := <-answer; a.Code != http.StatusOK || strings.Count(a.Body.String(), `"stime"`) != jobs {
					t.Errorf("%d, %d bytes", a.Code, a.Body.Len())
				}
				<-broke
			}
			if n := s.north.used(); n != 0 {
				t.Errorf("%d places are still taken", n)
			}
			s.Stop()
		})
	}
}
