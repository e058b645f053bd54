package sw08

import (
	"os"
	"path/filepath"
	"testing"
)

// Definitions that use everything there is compile.
func TestValid(t *testing.T) {
	paths, _ := filepath.Glob("testdata/valid/*.yaml")
	if len(paths) < 5 {
		t.Fatalf("only %d definitions", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, found := registry().Compile(path, text, exampleFiles, options)
		if c.Program == nil {
			t.Errorf("%s: %v", path, found)
			continue
		}
		sound(t, c.Program)
	}
}
