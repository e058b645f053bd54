package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestDeploySettings gives the server the settings of the files in deploy/: flags and keys
// that it does not know would be found there by nobody else.
func TestDeploySettings(t *testing.T) {
	dir := filepath.Join("..", "..", "deploy")
	t.Setenv("LOCKSTEP_STORE", "sqlite:"+filepath.Join(t.TempDir(), "lockstep.db"))

	unit, err := os.ReadFile(filepath.Join(dir, "systemd", "lockstep.service"))
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(unit), "\nExecStart=/usr/bin/lockstep ")
	command, _, _ = strings.Cut(command, "\n")
	checkSettings(t, strings.Fields(strings.ReplaceAll(command, "/etc/lockstep", filepath.Join(dir, "systemd"))))

	text, err := os.ReadFile(filepath.Join(dir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Command []string }
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for name, service := range compose.Services {
		if strings.HasPrefix(name, "node") {
			nodes++
			checkSettings(t, service.Command)
		}
	}
	if nodes != 3 {
		t.Errorf("compose.yaml has %d nodes", nodes)
	}
}

func checkSettings(t *testing.T, args []string) {
	t.Helper()
	var told bytes.Buffer
	if code := lockstep(append(args, "--check"), strings.NewReader(""), &told, &told); code != cli.ExitOK {
		t.Errorf("lockstep %s --check: %d: %s", strings.Join(args, " "), code, told.String())
	}
}
