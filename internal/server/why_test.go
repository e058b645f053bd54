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
