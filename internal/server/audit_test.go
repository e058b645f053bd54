package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
		if ok, _ := f.take(now); ok != (i < failureEntries) {
			t.Errorf("entry %d: %v", i, ok)
		}
	}
	if ok, missed := f.take(now.Add(61 * time.Second)); !ok || missed != 5 {
		t.Errorf("a minute later: %v, %d missing", ok, missed)
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
