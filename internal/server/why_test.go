package server

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestWhyOfAnInstanceThatIsKept: one that waits for nothing is told from one that is about to continue.
func TestWhyOfAnInstanceThatIsKept(t *testing.T) {
	for status, want := range map[core.Status]string{core.Waiting: "ended from outside", core.Running: "about to continue"} {
		if got := summary(&store.Instance{Status: status}, nil, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %s", status, got)
		}
	}
}

// TestWhyOfAnInstanceWhoseDefinitionIsPaused: it is not about to continue.
func TestWhyOfAnInstanceWhoseDefinitionIsPaused(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.put("id: w\nname: W\nversion: \"1\"\nstates:\n- {name: Nap, type: delay, start: {kind: default}, timeDelay: PT1H, end: {kind: default}}\n", "").want(201)
	w.do("POST", "/api/v1/definitions/w/instances?id=a", `{}`, "Content-Type", "application/json").want(202)
	w.do("POST", "/api/v1/definitions/w/pause", `{"reason":"month end"}`, "Content-Type", "application/json").want(200)
	got := w.get("/api/v1/instances/a/why").want(200).str("summary")
	if !strings.HasPrefix(got, `It stands still: definition "w" is paused since `) || !strings.Contains(got, "(month end). It waits for") {
		t.Error(got)
	}
	w.do("POST", "/api/v1/definitions/w/resume", `{}`, "Content-Type", "application/json").want(200)
	if got := w.get("/api/v1/instances/a/why").want(200).str("summary"); !strings.HasPrefix(got, "It waits for") {
		t.Error(got)
	}
}
