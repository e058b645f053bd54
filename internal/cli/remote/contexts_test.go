package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContextsReadBack: what is written is read again; a file of another shape is refused by its name.
func TestContextsReadBack(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	known, err := readContexts()
	if err != nil || len(known.Servers) > 0 {
		t.Fatalf("without a file: %+v, %v", known, err)
	}
	for name, e := range map[string]Entry{
		"prod": {URL: "https://example.com", Token: "env:PROD_TOKEN"},
		"yes":  {URL: "http://127.0.0.1:1", South: "http://127.0.0.1:2"},
	} {
		if err := known.set(name, e, true); err != nil {
			t.Fatal(err)
		}
	}
	known.Current = "yes"
	if err := known.write(); err != nil {
		t.Fatal(err)
	}
	again, err := readContexts()
	if err != nil || again.Current != "yes" || len(again.Servers) != 2 || again.Servers["prod"] != known.Servers["prod"] || again.Servers["yes"] != known.Servers["yes"] {
		t.Errorf("read back: %+v, %v", again, err)
	}
	file, err := contextsFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("contexts: {prod: {url: [1]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readContexts(); err == nil || !strings.Contains(err.Error(), filepath.Base(file)) {
		t.Errorf("another shape: %v", err)
	}
}
