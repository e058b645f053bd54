package server

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestAuditOfChanges: entries say what there was, and what there is, of everything that people change.
func TestAuditOfChanges(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.client = http.DefaultClient // the contract of this API does not have the operations of wfx
	const nightly = "id: nightly\nname: n\nversion: \"1\"\nstates:\n- {name: S, type: inject, start: {kind: scheduled, schedule: {cron: 0 3 * * *}}, data: {}, end: {kind: default}}\n"
	w.put(nightly, "").want(201)
	w.deploy("await", "relay")
	id := w.start("await", `{"order":"1"}`)
	w.reach(id, "waiting")
	other := w.start("await", `{"order":"2"}`)
	w.reach(other, "waiting")
	job := w.do("POST", "/api/wfx/v1/jobs", `{"clientId":"dana","workflow":"relay","definition":{"secret":"s3cret"}}`).want(201).t2("id")
	for _, c := range []struct{ method, path, body, before, after string }{
		{"POST", "/api/v1/definitions", greeting("1", "a"), "", "#"},
		{"POST", "/api/v1/definitions", greeting("2", "b"), "#", "#"},
		{"DELETE", "/api/v1/definitions/greet?version=1", "", "greet 1=#", ""},
		{"POST", "/api/v1/definitions/await/pause", `{"reason":"r"}`, "state=active", "state=paused"},
		{"POST", "/api/v1/definitions/await/pause", `{"reason":"r"}`, "state=paused", "state=paused"},
		{"POST", "/api/v1/definitions/await/retire", `{"reason":"r"}`, "state=paused", "state=paused,retired"},
		{"POST", "/api/v1/definitions/await/unretire", `{"reason":"r"}`, "state=paused,retired", "state=paused"},
		{"POST", "/api/v1/definitions/await/resume", `{"reason":"r"}`, "state=paused", "state=active"},
		{"POST", "/api/v1/schedules/nightly/pause", `{"reason":"r"}`, "state=active overlap=allow catchUp=latest catchUpWindow=", "state=paused overlap=allow catchUp=latest catchUpWindow="},
		{"PATCH", "/api/v1/schedules/nightly", `{"overlap":"skip","reason":"r"}`, "state=paused overlap=allow catchUp=latest catchUpWindow=", "state=paused overlap=skip catchUp=latest catchUpWindow="},
		{"POST", "/api/v1/schedules/nightly/resume", `{"reason":"r"}`, "state=paused overlap=skip catchUp=latest catchUpWindow=", "state=active overlap=skip catchUp=latest catchUpWindow="},
		{"POST", "/api/v1/schedules/nightly/trigger", `{"reason":"r"}`, "", "instance=*"},
		{"POST", "/api/v1/schedules/nightly/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","reason":"r"}`, "", "from=2026-01-01T00:00:00Z to=2026-01-02T00:00:00Z started=1"},
		{"POST", "/api/v1/instances/" + id + "/pause", `{"reason":"r"}`, "status=waiting", "status=paused"},
		{"POST", "/api/v1/instances/" + id + "/cancel", `{"reason":"r"}`, "status=paused", "status=cancelled"},
		{"POST", "/api/v1/instances/" + id + "/restart", "", "status=cancelled", "instance=*"},
		{"POST", "/api/v1/instances/bulk", `{"verb":"cancel","reason":"r","instances":[{"id":"` + other + `"},{"id":"none"}]}`, "", "verb=cancel done=1 refused=1 instances=" + other + ",none"},
		{"DELETE", "/api/v1/instances/" + id, "", "definition=await version=1.0 status=cancelled", ""},
		{"POST", "/api/v1/jobs", `{"workflow":"relay","clients":["a","b"]}`, "", "workflow=relay created=2 failed=0"},
		{"POST", "/api/v1/revocations", `{"certificate":"3a:5f","reason":"r"}`, "", ""},
		{"DELETE", "/api/v1/revocations/certificate-3a5f?reason=r", "", "", ""},
		{"POST", "/api/wfx/v1/jobs/" + job + "/tags", `["x"]`, "tags=", "tags=x"},
		{"DELETE", "/api/wfx/v1/jobs/" + job + "/tags", `["x"]`, "tags=x", "tags="},
		{"PUT", "/api/wfx/v1/jobs/" + job + "/definition", `{"secret":"other"}`, "definitionHash=#", "definitionHash=#"},
		{"PUT", "/api/wfx/v1/jobs/" + job + "/status", `{"state":"GIVEN-UP"}`, "workflow=relay client=dana state=WAITING", "workflow=relay client=dana state=GIVEN-UP"},
		{"DELETE", "/api/wfx/v1/jobs/" + job, "", "workflow=relay client=dana state=GIVEN-UP", ""},
		{"POST", "/api/wfx/v1/workflows", machine, "", "machine=#"},
		{"DELETE", "/api/wfx/v1/workflows/machine", "", "machine=#", ""},
	} {
		media := "application/json"
		if strings.HasPrefix(c.body, "id:") {
			media = "application/yaml"
		}
		if a := w.do(c.method, c.path, c.body, "Content-Type", media); a.status >= 300 {
			t.Errorf("%s: %d %s", a.what, a.status, a.text)
			continue
		}
		list := w.get("/api/v1/audit?limit=1").want(200)
		for at, want := range map[string]string{"before": c.before, "after": c.after} {
			got := list.str("items.0." + at)
			pattern := strings.NewReplacer("#", "[0-9a-f:sha]{64,71}", `\*`, ".+").Replace(regexp.QuoteMeta(want))
			if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.path, at, got, want)
			}
		}
		if want := strings.Contains(c.body+c.path, "reason"); want && list.str("items.0.reason") != "r" {
			t.Errorf("%s %s has no reason", c.method, c.path)
		}
		if strings.Contains(list.text, "s3cret") {
			t.Errorf("it has data: %s", list.text)
		}
	}
	w.do("POST", "/api/v1/schedules/nightly/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","dryRun":true}`).want(200)
	w.get("/api/v1/audit?operation=backfillSchedule").is("items.1", "null")
}

const machine = `{"name":"machine","states":[{"name":"A"},{"name":"B"}],"transitions":[{"from":"A","to":"B","eligible":"CLIENT"}]}`
