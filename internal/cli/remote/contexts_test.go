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
		"bare": {URL: "127.0.0.1:3", South: "devices.example.com"},
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
	if err != nil || again.Current != "yes" || len(again.Servers) != 3 || again.Servers["prod"] != known.Servers["prod"] || again.Servers["yes"] != known.Servers["yes"] {
		t.Errorf("read back: %+v, %v", again, err)
	}
	if bare := again.Servers["bare"]; bare.URL != "http://127.0.0.1:3" || bare.South != "https://devices.example.com" {
		t.Errorf("without schemes: %+v", bare)
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
