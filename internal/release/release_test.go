package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var when = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// TestArchivesAreReproducible: neither the order of the files nor the time of the build is in the bytes.
func TestArchivesAreReproducible(t *testing.T) {
	files := []file{{name: "b/two", text: []byte("2")}, {name: "a", text: []byte("1"), mode: 0o755}}
	swapped := []file{files[1], files[0]}
	var one, other bytes.Buffer
	if err := tarGz(&one, files, when); err != nil {
		t.Fatal(err)
	}
	if err := tarGz(&other, swapped, when); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Error("the archive depends on the order in which files are given")
	}
}

// TestDebianPackage: dpkg reads what is written, and versions before a release sort before it.
func TestDebianPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Log("no dpkg-deb on this machine: only the version is tested")
	}
	t.Chdir(filepath.Join("..", ".."))
	r := &release{version: "v1.2.0-rc.1", revision: strings.Repeat("a", 40), when: when, out: t.TempDir()}
	if got := r.debianVersion(); got != "1.2.0~rc.1" {
		t.Errorf("version %q", got)
	}
	program := filepath.Join(t.TempDir(), "lockstep")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.debian(platform{"linux", "amd64"}, program, []file{{name: "man/lockstep.1", text: []byte("page")}, {name: "README.md"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return
	}
	pkg := filepath.Join(r.out, "lockstep_1.2.0~rc.1_amd64.deb")
	told, err := exec.Command("dpkg-deb", "--field", pkg, "Package", "Version", "Architecture").CombinedOutput()
	if want := "Package: lockstep\nVersion: 1.2.0~rc.1\nArchitecture: amd64\n"; err != nil || string(told) != want {
		t.Errorf("dpkg-deb: %v\n%s", err, told)
	}
	list, err := exec.Command("dpkg-deb", "--contents", pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, list)
	}
	for _, want := range []string{"-rwxr-xr-x 0/0", "./usr/bin/lockstep", "./etc/lockstep/lockstep.yaml", "./usr/lib/systemd/system/lockstep.service", "./usr/share/man/man1/lockstep.1.gz"} {
		if !strings.Contains(string(list), want) {
			t.Errorf("the package has no %s:\n%s", want, list)
		}
	}
}
