package hostile

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

var rounds = flag.Int("hostile.rounds", 2, "how often each worker of the tenant does its work")

// maxMemory bounds the resident memory of the server, whatever the attackers do. The server is
// told to keep to softMemory; what is above that is garbage, stacks and the memory of SQLite.
const (
	softMemory = 1 << 30
	maxMemory  = 1536 << 20
)

// patience ends a test that hangs. It says nothing about how fast a server must be.
const patience = 4 * time.Minute

func TestMain(m *testing.M) { pgtest.Main(nodetest.Tests(m)) }

// credentials are the tokens of everybody who has one.
type credentials struct {
	admin, operator, dana string // of the tenant; dana is a device
	author, mallory       string // of the attackers; mallory is a device
}

func writeTokens(t *testing.T, file string) (c credentials) {
	t.Helper()
	var lines strings.Builder
	add := func(to *string, name, more string) {
		token, hash := server.NewToken()
		*to = token
		fmt.Fprintf(&lines, "{name: %s, hash: %q, %s}\n", name, hash, more)
	}
	add(&c.admin, "admin", "role: admin")
	add(&c.operator, "alice", "role: operator")
	add(&c.dana, "dana", "role: device, client: dana")
	add(&c.author, "eve", "role: author")
	add(&c.mallory, "mallory", "role: device, client: mallory")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// target is the server under attack.
type target struct {
	t    *testing.T
	node *nodetest.Node
	credentials
}

func start(t *testing.T, store string) *target {
	t.Helper()
	path, err := nodetest.Program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &target{t: t}
	tokens := filepath.Join(dir, "tokens")
	s.credentials = writeTokens(t, tokens)
	s.node, err = nodetest.Start(nodetest.Config{
		Program: path, Dir: dir, Name: "shared", Store: store,
		Args: []string{"--tokens", tokens, "--memory-limit", strconv.Itoa(softMemory)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.node.Kill)
	return s
}

// api is a client of the north that sends each request once, so that a refusal shows.
func (s *target) api(token string) *client.Client {
	c, err := client.New(client.Options{URL: s.node.URL, Token: token, Attempts: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// send sends one request and reads the answer.
func send(ctx context.Context, via *http.Client, method, url, token string, body []byte, header ...string) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := via.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// attackerHTTP comes from an address of its own, as an attacker does. All addresses are of the loopback.
func attackerHTTP(address string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dialerOf(address).DialContext, MaxIdleConnsPerHost: 256}}
}

func dialerOf(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
}

// laneWaits reports whether expensive instances wait for a processor.
func (s *target) laneWaits(ctx context.Context) bool {
	status, text, err := send(ctx, http.DefaultClient, "GET", s.node.URL+"/metrics", s.admin, nil)
	if err != nil || status != 200 {
		s.t.Errorf("GET /metrics: %d %v", status, err)
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "lockstep_expensive_waiting "); ok {
			return strings.TrimSpace(n) != "0"
		}
	}
	s.t.Error("nothing tells how many instances wait for the expensive lane")
	return false
}

// peakMemory is the most memory that the server had so far, in bytes.
func (s *target) peakMemory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.node.PID()))
	if err != nil {
		s.t.Fatalf("the server is gone: %v\n%s", err, s.node.Log())
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return n << 10
		}
	}
	s.t.Fatal("the system does not tell the memory of a process")
	return 0
}
