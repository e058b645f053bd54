package ui

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func ask(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

// TestFiles: every file of the build is served as what it is, compressed for those who
// take that, and not again for those who have it; no script but its own runs in it.
func TestFiles(t *testing.T) {
	for name, f := range files() {
		plain := ask(t, "/"+name)
		text, _ := io.ReadAll(plain.Body)
		if plain.StatusCode != 200 || !bytes.Equal(text, f.text) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes, want %d", name, plain.StatusCode, len(text), len(f.text))
		}
		zipped := ask(t, "/"+name, "Accept-Encoding", "br;q=1, gzip;q=0.8")
		if f.zipped != nil {
			z, err := gzip.NewReader(zipped.Body)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text, err = io.ReadAll(z); err != nil || !bytes.Equal(text, f.text) {
				t.Errorf("%s compressed is something else (%v)", name, err)
			}
		}
		for _, a := range []*http.Response{plain, zipped} {
			if again := ask(t, "/"+name, "Accept-Encoding", a.Header.Get("Content-Encoding"), "If-None-Match", a.Header.Get("ETag")); again.StatusCode != 304 {
				t.Errorf("%s is sent again: %d", name, again.StatusCode)
			}
			policy := a.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") {
				t.Errorf("%s has the policy %q", name, policy)
			}
			for _, lax := range []string{"unsafe", "http", "*", "script-src 'self' "} {
				if strings.Contains(policy, lax) {
					t.Errorf("%s: the policy has %s: %s", name, lax, policy)
				}
			}
		}
	}
}

// TestEveryPathIsThePage: a place that someone kept or was sent opens; an asset of another
// build does not pretend to be there.
func TestEveryPathIsThePage(t *testing.T) {
	for _, path := range []string{"/", "/definitions", "/instances/a%2Fb?tab=x", "/../x"} {
		a := ask(t, path)
		text, _ := io.ReadAll(a.Body)
		if a.StatusCode != 200 || !strings.Contains(string(text), `<div id="app">`) || a.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %.60s", path, a.StatusCode, text)
		}
	}
	if a := ask(t, "/assets/index-of-another-build.js"); a.StatusCode != 404 {
		t.Errorf("an asset that is not there gives %d", a.StatusCode)
	}
}

// TestLockFile: the page is built from packages that the lock file has, by hash, on every machine. It names no registry,
// and no package runs a script when it is installed.
func TestLockFile(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Integrity, Resolved                string
			HasInstallScript                   bool
			Dependencies, OptionalDependencies map[string]string
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	for path, p := range lock.Packages {
		if path != "" && p.Integrity == "" || p.Resolved != "" || p.HasInstallScript {
			t.Errorf("%s: integrity %q, resolved %q, a script %v", path, p.Integrity, p.Resolved, p.HasInstallScript)
		}
		for _, needs := range []map[string]string{p.Dependencies, p.OptionalDependencies} {
			for name := range needs {
				if _, ok := lock.Packages["node_modules/"+name]; !ok {
					t.Errorf("%s needs %s, which the lock file does not have", path, name)
				}
			}
		}
	}
}
