package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/nodetest"
)

// check proves that the files in the folder can be used: it compares them with their checksums and with a second build,
// and installs and starts those for this platform.
func (r *release) check() error {
	work, err := os.MkdirTemp("", "release-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, step := range []struct {
		what string
		run  func(work string) error
	}{
		{"checksums", func(string) error { return r.checkSums() }},
		{"archive", r.checkArchive},
		{"Debian package", r.checkDebian},
		{"image", r.checkImage},
		{"go install", r.checkInstall},
		{"second build", r.checkAgain},
	} {
		folder := filepath.Join(work, strings.ReplaceAll(step.what, " ", "-"))
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		if err := step.run(folder); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Println("ok", step.what)
	}
	return nil
}

// checkSums compares the files with checksums.txt.
func (r *release) checkSums() error {
	cmd := exec.Command("sha256sum", "--check", "--quiet", "--strict", "checksums.txt")
	cmd.Dir = r.out
	return run(cmd)
}

// checkArchive unpacks the archive of this platform and starts a server with its program.
func (r *release) checkArchive(work string) error {
	name := fmt.Sprintf("lockstep_%s_%s_%s", r.number(), here.os, here.arch)
	if err := run(exec.Command("tar", "-xzf", filepath.Join(r.out, name+".tar.gz"), "-C", work)); err != nil {
		return err
	}
	folder := filepath.Join(work, name)
	for _, f := range []string{"LICENSE", "README.md", "man/lockstep-serve.1", "completions/lockstep.zsh"} {
		if _, err := os.Stat(filepath.Join(folder, f)); err != nil {
			return err
		}
	}
	return r.checkProgram(filepath.Join(folder, "lockstep"), work)
}

// checkDebian installs the package into a folder, verifies its units and starts its program.
func (r *release) checkDebian(work string) error {
	root, admin := filepath.Join(work, "root"), filepath.Join(work, "root/var/lib/dpkg")
	for _, folder := range []string{admin + "/info", admin + "/updates"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(admin+"/status", nil, 0o644); err != nil {
		return err
	}
	pkg := filepath.Join(r.out, fmt.Sprintf("lockstep_%s_%s.deb", r.debianVersion(), here.arch))
	if err := run(exec.Command("dpkg", "--instdir="+root, "--admindir="+admin, "--force-not-root", "--log=/dev/null", "--install", pkg)); err != nil {
		return err
	}
	// The units name basic ones of systemd, which an empty root does not have.
	units := filepath.Join(root, "usr/lib/systemd/system")
	cmd := exec.Command("systemd-analyze", "verify", "--man=no", "lockstep.service", "lockstep.socket", "lockstep-south.socket")
	cmd.Dir = units
	cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+units+":")
	out, err := cmd.CombinedOutput()
	if err := verified(string(out), err); err != nil {
		return fmt.Errorf("systemd-analyze verify: %w", err)
	}
	return r.checkProgram(filepath.Join(root, "usr/bin/lockstep"), work)
}

// verified judges what systemd-analyze printed, and how it ended. That the program is not installed on this machine makes
// it fail, and is the only complaint that is tolerated. It may warn of units of the machine, but not fail because of them.
func verified(out string, err error) error {
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out))
	}
	tolerated := false
	var complaints []string
	for line := range strings.Lines(out) {
		switch {
		case strings.Contains(line, "/usr/bin/lockstep is not executable"):
			tolerated = true
		case err != nil || strings.Contains(line, "lockstep"):
			complaints = append(complaints, strings.TrimSpace(line))
		}
	}
	if len(complaints) > 0 {
		return fmt.Errorf("the units are not clean: %s", strings.Join(complaints, "; "))
	}
	if !tolerated {
		return err
	}
	return nil
}

// checkImage unpacks the images of all platforms, and starts the program of the one for this platform.
func (r *release) checkImage(work string) error {
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		root := filepath.Join(work, p.arch)
		config, err := r.unpackImage(p, root)
		if err != nil {
			return fmt.Errorf("%s: %w", p.arch, err)
		}
		if p == here {
			if err := r.checkProgram(filepath.Join(root, config.Config.Entrypoint[0]), work); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkInstall installs the program as "go install MODULE@VERSION" does, from a proxy that is a folder.
func (r *release) checkInstall(work string) error {
	const module = "github.com/lockstep-workflows/lockstep"
	at := filepath.Join(work, "proxy", module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, r.version, r.when.Format(time.RFC3339))
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(filepath.Join(at, "list"), []byte(r.version+"\n"), 0o644),
		os.WriteFile(filepath.Join(at, r.version+".info"), []byte(info), 0o644),
		os.WriteFile(filepath.Join(at, r.version+".mod"), mod, 0o644),
		run(exec.Command("git", "archive", "--format=zip", "--prefix="+module+"@"+r.version+"/",
			"--output="+filepath.Join(at, r.version+".zip"), "HEAD", ".", ":!examples/embed", ":!bench/peers")))
	if err != nil {
		return err
	}
	proxy, err := output("go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	install := exec.Command("go", "install", module+"/cmd/lockstep@"+r.version)
	install.Dir = work
	install.Env = append(os.Environ(), "GOFLAGS=", "GOBIN="+work, "GONOSUMDB="+module, "GOPROXY=file://"+filepath.Join(work, "proxy")+","+proxy)
	if err := run(install); err != nil {
		return err
	}
	told, err := output(filepath.Join(work, here.program()), "--version")
	if err != nil {
		return err
	}
	if !strings.Contains(told, r.version) {
		return fmt.Errorf("--version says %q, not %s", told, r.version)
	}
	return nil
}

// checkAgain builds everything a second time, in another folder and without what was compiled before, and compares.
func (r *release) checkAgain(work string) error {
	clone, cache := filepath.Join(work, "clone"), filepath.Join(work, "cache")
	if err := run(exec.Command("git", "clone", "--quiet", ".", clone)); err != nil {
		return err
	}
	again := exec.Command("go", "run", "./internal/release", "-version", r.version, "-out", filepath.Join(work, "dist"))
	again.Dir = clone
	again.Env = append(os.Environ(), "GOCACHE="+cache)
	if err := run(again); err != nil {
		return err
	}
	return run(exec.Command("diff", filepath.Join(r.out, "checksums.txt"), filepath.Join(work, "dist", "checksums.txt")))
}

// checkProgram asks a program for its version, and starts a server with it until the server says that it is ready.
func (r *release) checkProgram(program, work string) error {
	told, err := output(program, "--version")
	if err != nil {
		return err
	}
	for _, want := range []string{r.version, r.revision[:12], r.when.Format(time.DateOnly)} {
		if !strings.Contains(told, want) {
			return fmt.Errorf("--version says %q, without %s", told, want)
		}
	}
	folder, err := os.MkdirTemp(work, "server")
	if err != nil {
		return err
	}
	node, err := nodetest.Start(nodetest.Config{Program: program, Dir: folder, Name: "check", Store: "sqlite:check.db"})
	if err != nil {
		return err
	}
	defer node.Kill()
	for _, path := range []string{"/readyz", "/"} {
		ask, err := http.NewRequest(http.MethodGet, node.URL+path, http.NoBody)
		if err != nil {
			return err
		}
		ask.Header.Set("Accept", "text/html, */*") // as a browser does; other clients get no page
		answer, err := http.DefaultClient.Do(ask)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, answer.Status)
		}
	}
	return nil
}

// run runs a command, and returns what it printed if it fails.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
