package arch_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/arch"
)

// TestRepository holds the repository to every rule.
func TestRepository(t *testing.T) {
	m, err := arch.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Packages) == 0 {
		t.Fatal("no packages found")
	}
	for _, v := range m.Check(arch.Exceptions) {
		t.Error(v)
	}
}

// TestPublicPackages: what others may import is decided here, not by where a new package happens to be put.
func TestPublicPackages(t *testing.T) {
	m, err := arch.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	for _, p := range m.Packages {
		if p.Name != "main" && !strings.HasPrefix(p.Dir, "internal/") {
			public = append(public, p.Dir)
		}
	}
	want := []string{".", "api", "client", "effect", "event", "examples", "expr"} // examples has only tests
	if !slices.Equal(public, want) {
		t.Errorf("public packages: %v, want %v; move the others below internal/", public, want)
	}
}

// TestBinaryHasNoTestModules asks the go command, which also knows what others import.
func TestBinaryHasNoTestModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../cmd/lockstep").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "github.com/nats-io/nats.go\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, module := range []string{"github.com/nats-io/nats-server", "github.com/cloudevents/sdk-go"} {
		if strings.Contains(string(out), module) {
			t.Errorf("the binary contains %s, which only tests need", module)
		}
	}
}

// TestExceptionsSayWhy keeps the list of exceptions honest.
func TestExceptionsSayWhy(t *testing.T) {
	names := map[string]bool{}
	for _, r := range arch.Rules {
		names[r.Name] = true
	}
	for _, e := range arch.Exceptions {
		if !names[e.Rule] {
			t.Errorf("%s: there is no rule %q", e.File, e.Rule)
		}
		if len(e.Why) < 20 {
			t.Errorf("%s: the exception from %s does not say why", e.File, e.Rule)
		}
	}
}
