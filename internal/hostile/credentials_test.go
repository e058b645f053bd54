package hostile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

// The attackers of this file keep to what their credentials allow, as long as those are valid: they start as much as
// they can, on every server at once, and they stay after they were shut out.

// smallQuota is --quota-definition-instances of these servers.
const smallQuota = 200

// Definitions of an attacker whose instances start others: by events, by a schedule, and by themselves.
var (
	boom  = echo("boom", "bang")
	bang  = echo("bang", "boom") // a definition does not start itself by its own events
	storm = openWorkflow("storm", `
schedule: {every: {milliseconds: 1}}`, `
- stay: {wait: {hours: 1}}`)
	heap = openWorkflow("heap", "", `
- stay: {wait: {hours: 1}}`)
)

// echo answers an event with two others.
func echo(takes, sends string) string {
	return openWorkflow(takes, fmt.Sprintf(`
schedule: {on: {one: {with: {type: %s}}}}`, takes), fmt.Sprintf(`
- first: {emit: {event: {with: {source: /echo, type: %s}}}}
- second: {emit: {event: {with: {source: /echo, type: %[1]s}}}}
- stay: {wait: {hours: 1}}`, sends))
}

func openWorkflow(name, schedule, do string) string {
	return fmt.Sprintf("document: {dsl: 1.0.3, namespace: evil, name: %s, version: 1.0.0}%s\ndo:%s\n", name, schedule, do)
}

func TestCredentialsSQLite(t *testing.T) {
	credentialsOf(t, "sqlite:"+filepath.Join(t.TempDir(), "shared.db"), 1)
}

func TestCredentialsPostgreSQL(t *testing.T) {
	credentialsOf(t, pgtest.Start(t).Database(t), 2)
}

// shared are servers over one store, with one tokens file.
type shared struct {
	t     *testing.T
	nodes []*nodetest.Node
	file  string
	credentials
}

func credentialsOf(t *testing.T, store string, nodes int) {
	path, err := nodetest.Program()
	if err != nil {
		t.Fatal(err)
	}
	s := &shared{t: t, file: filepath.Join(t.TempDir(), "tokens")}
	s.credentials = writeTokens(t, s.file)
	for i := range nodes {
		n, err := nodetest.Start(nodetest.Config{
			Program: path, Dir: t.TempDir(), Name: fmt.Sprint("n", i), Store: store,
			Args: []string{"--tokens", s.file, "--quota-definition-instances", fmt.Sprint(smallQuota)},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
		s.nodes = append(s.nodes, n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s.quotas(ctx)
	s.brokenFiles(ctx)
	s.shutOut(ctx)
	for _, n := range s.nodes {
		if err := n.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
}

func (s *shared) api(node int, token string) *client.Client {
	c, err := client.New(client.Options{URL: s.nodes[node].URL, Token: token, Attempts: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// until asks again and again until something holds.
func (s *shared) until(ctx context.Context, what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("never: %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// status is what a server answers to a credential.
func (s *shared) status(ctx context.Context, node int, header ...string) int {
	code, _, err := send(ctx, http.DefaultClient, "GET", s.nodes[node].URL+"/api/v1/stats", "", nil, header...)
	if err != nil {
		s.t.Error(err)
	}
	return code
}

// quotas starts as much as it can in every way. Each server keeps to the quota by itself, so that all together stay below
// it times their number, and what was being started meanwhile.
func (s *shared) quotas(ctx context.Context) {
	author, admin := s.api(0, s.author), s.api(0, s.admin)
	for _, d := range []string{heap, boom, bang, storm} {
		if _, _, err := author.DeployDefinition(ctx, []byte(d), client.Deploy{}); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, err := admin.SendEvents(ctx, api.Data(`{"specversion":"1.0","id":"1","source":"/echo","type":"boom"}`)); err != nil {
		s.t.Fatal(err)
	}
	const workers = 16
	each(workers*len(s.nodes), func(worker int) {
		c := s.api(worker%len(s.nodes), s.author)
		for refused := 0; refused < 20 && ctx.Err() == nil; {
			if _, err := c.StartInstance(ctx, "evil.heap", client.Start{}); err != nil {
				refused++
			}
		}
	})
	open := func(id string) int64 {
		n, err := admin.CountInstances(ctx, "def:"+id)
		if err != nil {
			s.t.Fatal(err)
		}
		return n.Count
	}
	for _, id := range []string{"evil.heap", "evil.boom", "evil.bang", "evil.storm"} {
		s.until(ctx, id+" reaches its quota", func() bool { return open(id) >= smallQuota })
	}
	for _, id := range []string{"evil.heap", "evil.boom", "evil.bang", "evil.storm"} {
		n, most := open(id), int64(len(s.nodes)*(smallQuota+workers))
		s.t.Logf("%s: %d are open, the quota is %d, with %d servers", id, n, smallQuota, len(s.nodes))
		if n > most {
			s.t.Errorf("%s: %d are open, want at most %d", id, n, most)
		}
		if _, err := admin.PauseDefinition(ctx, id, "it does not stop"); err != nil {
			s.t.Error(err)
		}
	}
}

// brokenFiles reloads the settings with tokens files that cannot be used, under load: nobody is refused, and nobody is let in.
func (s *shared) brokenFiles(ctx context.Context) {
	good, err := os.ReadFile(s.file)
	if err != nil {
		s.t.Fatal(err)
	}
	var stop atomic.Bool
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		each(4, func(worker int) {
			for node := worker % len(s.nodes); !stop.Load() && ctx.Err() == nil; {
				if got := s.status(ctx, node, "Authorization", "Bearer "+s.operator); got != 200 {
					s.t.Errorf("a valid token during a reload: %d", got)
				}
				if got := s.status(ctx, node, "Authorization", "Bearer ls_wrong"); got != 401 {
					s.t.Errorf("a wrong token during a reload: %d", got)
				}
			}
		})
	}()
	failures := func(n *nodetest.Node) int { return strings.Count(n.Log(), "the settings cannot be reloaded") }
	for _, text := range []string{"", string(good[:len(good)-40]), "\x00\xff", string(good) + string(good), "{name: x, role: root, hash: y}\n"} {
		if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
		for _, n := range s.nodes {
			before := failures(n)
			if err := n.Signal(syscall.SIGHUP); err != nil {
				s.t.Fatal(err)
			}
			s.until(ctx, fmt.Sprintf("a reload with the tokens %.20q is refused", text), func() bool { return failures(n) > before })
		}
	}
	if err := os.WriteFile(s.file, good, 0o600); err != nil {
		s.t.Fatal(err)
	}
	stop.Store(true)
	<-loaded
}

// shutOut revokes a token whose owner has streams and sessions on every server, while certificates are revoked and restored
// from all sides; then it takes another one out of the file.
func (s *shared) shutOut(ctx context.Context) {
	_, answer, err := send(ctx, http.DefaultClient, "POST", s.nodes[0].URL+"/api/v1/session", "", fmt.Appendf(nil, `{"token":%q}`, s.author))
	if err != nil || strings.Contains(string(answer), "code") {
		s.t.Fatalf("%s %v", answer, err)
	}
	streams := make(chan error)
	count := 0
	for _, n := range s.nodes {
		for _, path := range []string{"/api/v1/stream", "/api/wfx/v1/jobs/events"} {
			count++
			go func() { streams <- s.follow(ctx, n.URL+path, s.author) }()
		}
	}
	each(16, func(worker int) {
		admin := s.api(worker%len(s.nodes), s.admin)
		for i := range 10 {
			serial := fmt.Sprintf("%x", 1+(worker+i)%5)
			v, err := admin.Revoke(ctx, api.RevokeRequest{Certificate: serial})
			if err != nil {
				s.t.Errorf("revoke: %v", err)
				continue
			}
			if i%2 == 0 {
				_ = admin.Restore(ctx, v.ID, "") // another one may have been first
			}
		}
	})
	if _, err := s.api(0, s.admin).Revoke(ctx, api.RevokeRequest{Token: "eve", Reason: "attacks"}); err != nil {
		s.t.Fatal(err)
	}
	for i := range s.nodes {
		s.until(ctx, "a revoked token is refused", func() bool { return s.status(ctx, i, "Authorization", "Bearer "+s.author) == 401 })
	}
	for range count {
		if err := <-streams; err != nil {
			s.t.Errorf("a stream with a revoked token: %v", err)
		}
	}
	lists := map[string]bool{}
	for i := range s.nodes {
		list, err := s.api(i, s.admin).ListRevocations(ctx)
		text, _ := json.Marshal(list)
		if lists[string(text)] = true; err != nil || len(lists) != 1 {
			s.t.Errorf("the servers have different revocations, or %v: %v", err, lists)
		}
	}
	entries, err := s.api(0, s.admin).ListAudit(ctx, client.AuditQuery{Operation: "revoke", Paging: client.Paging{Limit: 1000}})
	if err != nil || len(entries.Items) != 161 {
		s.t.Errorf("%d entries of revocations, want 161; %v", len(entries.Items), err)
	}
}

// follow reads a stream until the server ends it.
func (s *shared) follow(ctx context.Context, url, token string) error {
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != 200 {
		return fmt.Errorf("%d", a.StatusCode)
	}
	_, err = io.Copy(io.Discard, bufio.NewReader(a.Body))
	return err
}
