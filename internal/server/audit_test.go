package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestAuditLog: what people change is in the log with who, from where, what and why, before they get the answer; no
// secrets are, and nothing that programs do all the time.
func TestAuditLog(t *testing.T) {
	admin, a := oneToken("root", Admin, "")
	author, b := oneToken("ada", Author, "")
	w := newWorld(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, a, b) })
	w.token = author
	w.deploy("await")
	w.do("POST", "/api/v1/definitions?dry-run=true", greeting("1", "x"), "Content-Type", "application/yaml").want(200)
	id := w.start("await", `{"order":"1"}`)
	w.token = admin
	w.do("POST", "/api/v1/instances/"+id+"/cancel", `{"reason":"wrong customer"}`).want(200)
	w.do("DELETE", "/api/v1/instances/none", "").problem(api.CodeNotFound)
	w.do("POST", "/api/v1/revocations", `{"token":"ada","reason":"left"}`).want(201)
	w.do("POST", "/api/v1/session", `{"token":"ls_wrong"}`).problem(api.CodeUnauthorized)
	w.do("POST", "/api/v1/session", `{"token":"`+admin+`"}`).want(200)
	list := w.get("/api/v1/audit").want(200)
	for i, want := range []string{
		`openSession /api/v1/session root 200 `,
		`openSession /api/v1/session - 401 `,
		`revoke /api/v1/revocations/token-* root 201 left`,
		`deleteInstance /api/v1/instances/none root 404 `,
		`cancelInstance /api/v1/instances/` + id + ` root 200 wrong customer`,
		`deployDefinition /api/v1/definitions/await?version=1.0 ada 201 `,
	} {
		at := fmt.Sprint("items.", i, ".")
		target := list.str(at + "target")
		if before, _, ok := strings.Cut(target, "token-"); ok {
			target = before + "token-*"
		}
		got := fmt.Sprintf("%s %s %s %s %s", list.str(at+"operation"), target, list.str(at+"who"), list.at(at+"status"), list.str(at+"reason"))
		if got != want || list.str(at+"address") != "127.0.0.1" {
			t.Errorf("entry %d is %q from %s, want %q", i, got, list.str(at+"address"), want)
		}
	}
	if n := list.at("items").Len(); n != 6 {
		t.Errorf("%d entries: %s", n, list.text)
	}
	if list.str("items.5.after") == "" {
		t.Error("the deployment has no digest")
	}
	for _, secret := range []string{admin, author, "ls_wrong", strings.TrimPrefix(admin, tokenPrefix)} {
		if strings.Contains(list.text, secret) {
			t.Errorf("it has a token: %s", list.text)
		}
	}
	page := w.get("/api/v1/audit?limit=2&who=root").want(200)
	next := w.get("/api/v1/audit?limit=2&who=root&after=" + page.str("next")).want(200)
	if next.str("items.0.operation") != "deleteInstance" {
		t.Errorf("the next page: %s", next.text)
	}
	w.token = ""
	w.get("/api/v1/audit").problem(api.CodeUnauthorized)
}

// TestAuditOfFailuresIsBounded: wrong tokens do not fill the log; how many are missing is told.
func TestAuditOfFailuresIsBounded(t *testing.T) {
	var f failures
	now := time.Unix(0, 0)
	for i := range failureEntries + 5 {
		if ok, _ := f.take("-", now); ok != (i < failureEntries) {
			t.Errorf("entry %d: %v", i, ok)
		}
	}
	if ok, missed := f.take("ada", now); !ok || missed != 0 {
		t.Error("those of strangers push out those of others")
	}
	for minute, want := range map[time.Duration]int64{1: 5, 3: 0} {
		later := now.Add(minute*time.Minute + time.Second)
		if ok, _ := f.take("bob", later); !ok {
			t.Error("bob has no entry")
		}
		if minute == 1 {
			if ok, missed := f.take("-", later); !ok || missed != want {
				t.Errorf("a minute later: %v, %d missing", ok, missed)
			}
		}
	}
}

// TestAuditOfStrangers: wrong tokens, and signing out without a session, leave room for the failures of others, and fill
// the log with nothing. What a role forbids has an entry.
func TestAuditOfStrangers(t *testing.T) {
	admin, a := oneToken("root", Admin, "")
	viewer, b := oneToken("vera", Viewer, "")
	w := newWorld(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, a, b) })
	for range 3 * failureEntries {
		w.do("POST", "/api/v1/session", `{"token":"ls_wrong"}`).problem(api.CodeUnauthorized)
		w.do("DELETE", "/api/v1/session", "").want(204)
		w.do("POST", "/api/v1/session", `{"token":"`+viewer+`"}`).want(200)
	}
	w.token = viewer
	w.do("DELETE", "/api/v1/instances/none", "").problem(api.CodeForbidden)
	w.token = admin
	w.do("DELETE", "/api/v1/instances/none", "").problem(api.CodeNotFound)
	list := w.get("/api/v1/audit?limit=1000").want(200)
	if list.str("items.0.who") != "root" || list.at("items.0.status").String() != "404" {
		t.Errorf("the failure of another has no entry: %s", list.str("items.0.operation"))
	}
	if n := list.at("items").Len(); n > 4*failureEntries+2 { // a minute may end meanwhile
		t.Errorf("%d entries", n)
	}
	w.get("/api/v1/audit?operation=closeSession").is("items", "[]")
}

// TestAuditOfWhatFailedLate: where the server fails, the change may have been made: it has an entry, however many there are.
func TestAuditOfWhatFailedLate(t *testing.T) {
	for _, status := range []int{500, 503, 504} {
		if isBounded("deployDefinition", status) {
			t.Errorf("%d", status)
		}
	}
	late := &lateStore{Store: newMemory()}
	w := newWorld(t, late, nil)
	for range failureEntries + 1 {
		w.do("DELETE", "/api/v1/instances/none", "").problem(api.CodeNotFound)
	}
	w.put(greeting("1", "a"), "").want(201)
	late.late.Store(true)
	w.do("DELETE", "/api/v1/definitions/greet", "").problem(api.CodeUncertain)
	late.late.Store(false)
	w.get("/api/v1/audit?operation=deleteDefinition").is("items.0.status", "504")
}

// lateStore answers deletions only after the time is up.
type lateStore struct {
	store.Store
	late atomic.Bool
}

func (s *lateStore) DeleteDefinition(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	d, err := s.Store.DeleteDefinition(ctx, id, version, next)
	if s.late.Load() {
		return nil, fmt.Errorf("%w: %w", store.ErrUncertain, context.DeadlineExceeded)
	}
	return d, err
}

// TestAuditOfHostileTexts: an entry is of bounded size, and is stored whatever the request has in it.
func TestAuditOfHostileTexts(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.do("POST", "/api/v1/instances/none/cancel", `{"reason":"`+strings.Repeat("é", 1<<20)+`"}`).problem(api.CodeTooLarge)
	w.do("DELETE", "/api/v1/instances/a%00b%ff%1b", "").problem(api.CodeBadParameter)
	list := w.get("/api/v1/audit").want(200)
	if got := list.str("items.0.target"); got != "/api/v1/instances/a%00b%FF%1B" {
		t.Errorf("target %q", got)
	}
	if n := len(list.str("items.1.reason")); n > maxAuditText || n < maxAuditText-4 {
		t.Errorf("a reason of %d bytes", n)
	}
}

// TestAuditOfTokens: a tokens file that is read again is a change as well.
func TestAuditOfTokens(t *testing.T) {
	admin, a := oneToken("root", Admin, "")
	_, b := oneToken("ada", Author, "")
	_, c := oneToken("cy", Viewer, "")
	w := newWorld(t, newMemory(), func(cfg *Config, _ *engine.Config) { cfg.Tokens = parse(t, a, b) })
	w.token = admin
	w.server.SetTokens(parse(t, a, b))
	w.get("/api/v1/audit").is("items", "[]")
	w.server.SetTokens(parse(t, a, c))
	list := w.get("/api/v1/audit").want(200).is("items.0.operation", `"reloadTokens"`).is("items.0.who", `"-"`)
	before, after := list.str("items.0.before"), list.str("items.0.after")
	if !strings.HasPrefix(before, "ada=author,sha256:") || !strings.HasPrefix(after, "cy=viewer,sha256:") {
		t.Errorf("%q %q", before, after)
	}
}

// noAudit is a store whose audit log is full.
type noAudit struct{ store.Store }

func (noAudit) AppendEntry(context.Context, store.Entry, core.Time) error {
	return errors.New("no space")
}

// TestNoSilentChange: a change whose entry cannot be stored is not acknowledged as if all were well.
func TestNoSilentChange(t *testing.T) {
	w := newWorldAtRest(t, noAudit{newMemory()}, nil)
	w.put(greeting("1", "x"), "").problem(api.CodeUncertain).says("its entry in the audit log could not be stored")
	w.get("/api/v1/definitions").want(200)
}
