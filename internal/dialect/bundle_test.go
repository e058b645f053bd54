package dialect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirBundle(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "def")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret", "secret")
	write("def/a.json", "A")
	write("def/sub/b c.json", "B")
	write("def/large", strings.Repeat("x", DefaultLimits.Bytes+1))
	for link, target := range map[string]string{"out": "../secret", "up": "..", "abs": filepath.Join(base, "secret"), "in": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	b := DirBundle(dir)
	for ref, want := range map[string]string{
		"a.json": "A", "./a.json": "A", "a.json#/x": "A", "file:a.json": "A", "file:a.json#x": "A", "sub/../a.json": "A",
		"sub/b%20c.json": "B", "file:sub/b%20c.json": "B", "in/b%20c.json": "B",
		"file://" + filepath.Join(dir, "a.json"): "A", filepath.Join(dir, "a.json"): "A", "file://localhost" + dir + "/a.json": "A",
	} {
		if text, err := b.Open(ref); err != nil || string(text) != want {
			t.Errorf("%q: %q %v", ref, text, err)
		}
	}
	for _, ref := range []string{
		"../secret", "sub/../../secret", "%2e%2e/secret", "out", "up/secret", "abs", "/etc/passwd", "file:///etc/passwd",
		"file:../secret", "file://" + filepath.Join(base, "secret"), "file://host/a.json", "http://127.0.0.1/a.json", "//host/a.json",
		"none", "sub", ".", "", "#x", "file:", "a\x00b", "%00", "%zz", "file:%zz", "large", "data:,x",
		"file://host" + dir + "/a.json", "http://localhost" + dir + "/a.json", "//host" + dir + "/a.json", "data:a.json",
	} {
		if text, err := b.Open(ref); err == nil {
			t.Errorf("%q gives %.20q", ref, text)
		} else if strings.Contains(err.Error(), "nil") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for ref, outside := range map[string]bool{
		"../secret": true, "../none": true, "out": true, "up/secret": true, "abs": true, "/etc/passwd": true,
		"none": false, "up/none": false, "sub": false, "large": false,
	} {
		if _, err := b.Open(ref); errors.Is(err, ErrOutside) != outside {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestOtherBundles(t *testing.T) {
	if _, err := NoBundle.Open("a"); err == nil {
		t.Error("NoBundle opens")
	}
	m := MapBundle{"d/a.json": []byte("A")}
	if text, err := m.Open("file:./d/a.json#x"); err != nil || string(text) != "A" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := m.Open("http://d/a.json"); err == nil {
		t.Error("MapBundle opens another host")
	}
	if _, err := m.Open("b"); !errors.Is(err, os.ErrNotExist) {
		t.Error("MapBundle opens what it has not")
	}
	f := FSBundle(os.DirFS(t.TempDir()), ".")
	for _, b := range []Bundle{m, f} {
		if _, err := b.Open("../a.json"); !errors.Is(err, ErrOutside) {
			t.Errorf("%T: %v", b, err)
		}
	}
}
