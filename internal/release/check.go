package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	if complaint := unexpected(string(out)); complaint != "" {
		return fmt.Errorf("systemd-analyze verify: %w: %s", errors.Join(err, errors.New("the units are not clean")), complaint)
	}
	return r.checkProgram(filepath.Join(root, "usr/bin/lockstep"), work)
}

// unexpected are the lines of systemd-analyze about our units, except that the program is not installed on this machine.
func unexpected(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "lockstep") && !strings.Contains(line, "/usr/bin/lockstep is not executable") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "; ")
}

// checkImage follows the image from its index to the program, comparing every digest, and starts the program.
func (r *release) checkImage(work string) error {
	if err := run(exec.Command("tar", "-xf", filepath.Join(r.out, fmt.Sprintf("lockstep_%s_image.tar", r.number())), "-C", work)); err != nil {
		return err
	}
	var top, all, image manifest
	text, err := os.ReadFile(filepath.Join(work, "index.json"))
	if err == nil {
		err = json.Unmarshal(text, &top)
	}
	if err != nil || len(top.Manifests) != 1 {
		return fmt.Errorf("index.json: %v, %d manifests", err, len(top.Manifests))
	}
	if err := readBlob(work, top.Manifests[0], &all); err != nil {
		return err
	}
	for _, d := range all.Manifests {
		if d.Platform.Architecture != here.arch {
			continue
		}
		if err := readBlob(work, d, &image); err != nil {
			return err
		}
	}
	var config imageConfig
	if image.Config == nil || len(image.Layers) != 1 {
		return fmt.Errorf("no image for %s", here.arch)
	}
	if err := readBlob(work, *image.Config, &config); err != nil {
		return err
	}
	layer, err := blob(work, image.Layers[0])
	if err != nil {
		return err
	}
	root := filepath.Join(work, "root")
	if err := unpack(layer, root, config.RootFS.DiffIDs[0]); err != nil {
		return err
	}
	return r.checkProgram(filepath.Join(root, config.Config.Entrypoint[0]), work)
}

func blob(work string, d descriptor) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(work, "blobs", strings.Replace(d.Digest, ":", "/", 1)))
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(content)); sum != d.Digest || len(content) != d.Size {
		return nil, fmt.Errorf("%s: %d bytes, %s", d.Digest, len(content), sum)
	}
	return content, nil
}

func readBlob(work string, d descriptor, into any) error {
	content, err := blob(work, d)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// unpack writes the files of a layer.
func unpack(layer []byte, root, diffID string) error {
	zipped, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(zipped)
	if err != nil {
		return err
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); sum != diffID {
		return fmt.Errorf("the layer is %s, the configuration says %s", sum, diffID)
	}
	archive := tar.NewReader(bytes.NewReader(plain))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = writeFile(name, archive, os.FileMode(h.Mode))
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(name string, from io.Reader, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
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
