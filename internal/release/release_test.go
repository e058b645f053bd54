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

// TestImage: what an image contains can be reached by each of the ways in which it is loaded, and a wrong one is noticed.
func TestImage(t *testing.T) {
	r := &release{version: "v1.2.0", revision: strings.Repeat("a", 40), when: when, out: t.TempDir()}
	p := platform{"linux", "arm64"}
	program := filepath.Join(t.TempDir(), "lockstep")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.image(p, program); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root")
	config, err := r.unpackImage(p, root)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, config.Config.Entrypoint[0])); err != nil || string(text) != "#!/bin/sh\n" {
		t.Errorf("the image starts %q, %v", text, err)
	}
	name := filepath.Join(r.out, "lockstep_1.2.0_arm64_image.tar")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ right, wrong string }{
		{`"RepoTags":["lockstep:1.2.0"]`, `"RepoTags":["lockstep:1.2.1"]`},
		{`docker.io/library/lockstep:1.2.0`, `docker.io/library/lockstep:1.2.1`},
		{`"architecture":"arm64"`, `"architecture":"amd64"`},
	} {
		changed := bytes.Replace(text, []byte(c.right), []byte(c.wrong), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("the image has no %s", c.right)
		}
		if err := os.WriteFile(name, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := r.unpackImage(p, filepath.Join(t.TempDir(), "root")); err == nil {
			t.Errorf("%s is not noticed", c.wrong)
		}
	}
}

// TestUnitsAreVerified: a check of the units that did not happen is not one that found nothing.
func TestUnitsAreVerified(t *testing.T) {
	const missing = "lockstep.service: Command /usr/bin/lockstep is not executable: No such file or directory\n"
	exit := func(script string) error { return exec.Command("sh", "-c", script).Run() }
	for _, c := range []struct {
		name, out string
		err       error
		ok        bool
	}{
		{"clean", "", nil, true},
		{"the program is not installed", missing + missing, exit("exit 1"), true},
		{"a unit of the machine is not clean", "/lib/systemd/system/x.service:5: Unknown key\n", nil, true},
		{"there is no systemd-analyze", "", exec.Command("no-such-systemd-analyze").Run(), false},
		{"it was killed", missing, exit("kill -9 $$"), false},
		{"it failed without a word", "", exit("exit 1"), false},
		{"it failed for something else", "Failed to initialize manager: Permission denied\n", exit("exit 1"), false},
		{"and besides", missing + "Failed to load x\n", exit("exit 1"), false},
		{"a warning of ours", "/x/lockstep.service:50: Unknown key 'Foo' in section [Install], ignoring.\n" + missing, exit("exit 1"), false},
	} {
		if err := verified(c.out, c.err); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
