// Release builds what is published of a version: programs for each platform, Debian packages, images for
// containers, a list of what they contain and checksums. It needs Go and git, no daemon and no network but
// for modules.
//
//	release -version v1.2.3 -out dist
//
// The same commit gives the same bytes: paths are trimmed, times are that of the commit, and archives
// list their files in one order. "-check" unpacks, installs and starts the ones for this platform.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	var r release
	check := false
	flag.StringVar(&r.version, "version", "", "the version, such as v1.2.3 (default: from the tags of git)")
	flag.StringVar(&r.out, "out", "dist", "the folder for the files, which is emptied first")
	flag.BoolVar(&check, "check", false, "check the files in the folder instead of building them")
	flag.Parse()
	err := r.describe()
	if err == nil && check {
		err = r.check()
	} else if err == nil {
		err = r.build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one version of the program.
type release struct {
	version  string // with the v in front
	revision string
	when     time.Time // of the revision
	out      string
}

// platform is one that programs are built for.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// here is the platform that this program runs on.
var here = platform{runtime.GOOS, runtime.GOARCH}

// describe fills in what git knows.
func (r *release) describe() error {
	revision, err := output("git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	when, err := output("git", "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return err
	}
	r.revision = revision
	if r.when, err = time.Parse(time.RFC3339, when); err != nil {
		return err
	}
	r.when = r.when.UTC()
	if r.version != "" {
		return nil
	}
	if tag, err := output("git", "describe", "--tags", "--exact-match", "--match", "v*"); err == nil {
		r.version = tag
		return nil
	}
	r.version = fmt.Sprintf("v0.0.0-%s-%s", r.when.Format("20060102150405"), revision[:12])
	return nil
}

// number is the version without the v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// build makes all files.
func (r *release) build() error {
	if changes, err := output("git", "status", "--porcelain", "--untracked-files=no"); err != nil {
		return err
	} else if changes != "" {
		return fmt.Errorf("the working tree has changes, which no commit describes:\n%s", changes)
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	work := filepath.Join(r.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	extras, err := r.extras(work)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		fmt.Println("building", p.os, p.arch)
		if err := r.platform(p, work, extras); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
	}
	if err := r.contents(work); err != nil {
		return err
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return r.checksums()
}

// platform builds the program for a platform and packs it.
func (r *release) platform(p platform, work string, extras []file) error {
	program, err := r.compile(p, work)
	if err != nil {
		return err
	}
	files := slices.Concat([]file{{name: p.program(), path: program, mode: 0o755}}, extras)
	folder := fmt.Sprintf("lockstep_%s_%s_%s", r.number(), p.os, p.arch)
	if p.os == "windows" {
		return r.zip(folder, files)
	}
	if err := r.tarball(folder, files); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	if err := r.debian(p, program, extras); err != nil {
		return err
	}
	return r.image(p, program)
}

func (p platform) program() string {
	if p.os == "windows" {
		return "lockstep.exe"
	}
	return "lockstep"
}

// compile builds the program and returns its path.
func (r *release) compile(p platform, work string) (string, error) {
	program := filepath.Join(work, p.os+"_"+p.arch, p.program())
	const pkg = "github.com/lockstep-workflows/lockstep/internal/version."
	flags := fmt.Sprintf("-s -w -buildid= -X %sversion=%s -X %srevision=%s -X %stime=%s",
		pkg, r.version, pkg, r.revision, pkg, r.when.Format(time.RFC3339))
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", program, "./cmd/lockstep")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	build.Stderr = os.Stderr
	return program, build.Run()
}

// extras are the files that go with every program: licence, manual pages and completions for shells. The
// program for this platform writes the last two.
func (r *release) extras(work string) ([]file, error) {
	program, err := r.compile(here, work)
	if err != nil {
		return nil, err
	}
	files := []file{{name: "LICENSE", path: "LICENSE"}, {name: "README.md", path: "README.md"}, {name: "CHANGELOG.md", path: "CHANGELOG.md"}}
	pages := filepath.Join(work, "man")
	if _, err := output(program, "man", pages); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		files = append(files, file{name: "man/" + e.Name(), path: filepath.Join(pages, e.Name())})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		text, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell, err)
		}
		files = append(files, file{name: "completions/lockstep." + shell, text: text})
	}
	return files, nil
}

// output is what a command prints, without the last newline.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
