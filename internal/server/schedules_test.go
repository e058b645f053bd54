package server

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestSchedule: a schedule says when it fires, and a pause holds it over a new version.
func TestSchedule(t *testing.T) {
	nightly := func(version string) string {
		return "id: nightly\nname: Clean\nversion: \"" + version + "\"\nstates:\n- name: Clean\n  type: inject\n" +
			"  start: {kind: scheduled, schedule: {cron: 0 3 * * *}}\n  data: {ok: true}\n  end: {kind: default}\n"
	}
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(nightly("1.0.0"), "").want(201)
		w.get("/api/v1/definitions/nightly").want(200).is("scheduled", "true")
		w.get("/api/v1/schedules/nightly").want(200).is("state", `"active"`).is("cron", `"0 3 * * *"`).is("overlap", `"allow"`)
		w.do("POST", "/api/v1/schedules/nightly/pause", `{"reason":"a fair"}`, "Content-Type", "application/json").want(200).is("paused.reason", `"a fair"`)
		w.put(nightly("1.1.0"), "").want(201)
		w.get("/api/v1/schedules/nightly").want(200).is("state", `"paused"`).is("version", `"1.1.0"`)
		w.get("/api/v1/schedules/none").problem(api.CodeNotFound)
	})
}

// TestBackfillBefore1970: a date that is too early is not called a missing one.
func TestBackfillBefore1970(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	for from, want := range map[string]string{
		`"1900-01-01T00:00:00Z"`: `"from is 1900-01-01T00:00:00Z: it must be from 1970 to 2261"`,
		`"2262-01-01T00:00:00Z"`: `"from is 2262-01-01T00:00:00Z: it must be from 1970 to 2261"`,
		`"yesterday"`:            `"from is required: an instant such as 2026-03-01T00:00:00Z"`,
		`null`:                   `"from is required: an instant such as 2026-03-01T00:00:00Z"`,
	} {
		w.do("POST", "/api/v1/schedules/nightly/backfill", `{"from":`+from+`,"to":"2026-03-01T00:00:00Z"}`, "Content-Type", "application/json").
			problem(api.CodeInput).is("detail", want)
	}
}
