package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"path/filepath"
	"strings"
)

// debian writes the Debian package of a platform: the program, its units, settings, manual pages and completions.
// It has no scripts: the service gets a user from systemd (DynamicUser), and is started when an operator enables it.
func (r *release) debian(p platform, program string, extras []file) error {
	files := []file{{name: "usr/bin/lockstep", path: program, mode: 0o755}}
	units, err := filepath.Glob("deploy/systemd/*")
	if err != nil {
		return err
	}
	for _, unit := range units {
		name := "usr/lib/systemd/system/" + filepath.Base(unit)
		if strings.HasSuffix(unit, ".yaml") {
			name = "etc/lockstep/" + filepath.Base(unit)
		}
		files = append(files, file{name: name, path: unit})
	}
	for _, f := range extras {
		name, ok := debianPath(f.name)
		if !ok {
			continue
		}
		text, err := f.content()
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".gz") {
			if text, err = zipped(text); err != nil {
				return err
			}
		}
		files = append(files, file{name: name, text: text})
	}
	var data, control bytes.Buffer
	if err := tarGz(&data, below(".", files), r.when); err != nil {
		return err
	}
	meta, err := r.control(p, files)
	if err != nil {
		return err
	}
	if err := tarGz(&control, meta, r.when); err != nil {
		return err
	}
	name := fmt.Sprintf("lockstep_%s_%s.deb", r.debianVersion(), p.arch)
	return r.write(name, r.ar([]file{
		{name: "debian-binary", text: []byte("2.0\n")},
		{name: "control.tar.gz", text: control.Bytes()},
		{name: "data.tar.gz", text: data.Bytes()},
	}))
}

// debianVersion sorts versions before the release behind earlier releases: 1.0.0-rc.1 is 1.0.0~rc.1.
func (r *release) debianVersion() string { return strings.Replace(r.number(), "-", "~", 1) }

// debianPath is where a file of the archives belongs in a package.
func debianPath(name string) (string, bool) {
	switch {
	case strings.HasPrefix(name, "man/"):
		return "usr/share/man/man1/" + filepath.Base(name) + ".gz", true
	case name == "completions/lockstep.bash":
		return "usr/share/bash-completion/completions/lockstep", true
	case name == "completions/lockstep.zsh":
		return "usr/share/zsh/vendor-completions/_lockstep", true
	case name == "completions/lockstep.fish":
		return "usr/share/fish/vendor_completions.d/lockstep.fish", true
	case name == "LICENSE":
		return "usr/share/doc/lockstep/copyright", true
	case name == "CHANGELOG.md":
		return "usr/share/doc/lockstep/changelog.gz", true
	}
	return "", false
}

func zipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// control are the files that describe a package.
func (r *release) control(p platform, files []file) ([]file, error) {
	var sums strings.Builder
	size := 0
	for _, f := range files {
		text, err := f.content()
		if err != nil {
			return nil, err
		}
		size += len(text)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(text), f.name) // the format of dpkg, which does not trust it
	}
	control := fmt.Sprintf(`Package: lockstep
Version: %s
Architecture: %s
Maintainer: The Lockstep authors <maintainers@lockstep-workflows.example>
Installed-Size: %d
Section: admin
Priority: optional
Homepage: https://github.com/lockstep-workflows/lockstep
Description: runs declarative workflows durably
 Lockstep runs Open Workflow and CNCF Serverless Workflow documents and
 state machines in the format of wfx, on SQLite or PostgreSQL.
 .
 "systemctl enable --now lockstep" starts the server with the settings in
 /etc/lockstep/lockstep.yaml.
`, r.debianVersion(), p.arch, (size+1023)/1024)
	return []file{
		{name: "control", text: []byte(control)},
		{name: "conffiles", text: []byte("/etc/lockstep/lockstep.yaml\n")},
		{name: "md5sums", text: []byte(sums.String())},
	}, nil
}

// ar is the archive format of packages.
func (r *release) ar(files []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.when.Unix(), 0, 0, 0o100644, len(f.text))
		b.Write(f.text)
		if len(f.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
