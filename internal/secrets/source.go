package secrets

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

// Source is where secrets come from.
type Source interface {
	// state changes when the secrets may have changed.
	state() (string, error)
	// read returns the secrets by name, and warnings.
	read() (map[string]expr.Value, []string, error)
}

// File is a source: an object of secrets by name, in YAML or JSON.
type File string

func (f File) state() (string, error) {
	info, err := os.Stat(string(f))
	if err != nil {
		return "", fmt.Errorf("secrets: %w", err)
	}
	return describe(info), nil
}

func (f File) read() (map[string]expr.Value, []string, error) {
	text, err := readFile(string(f))
	if err != nil {
		return nil, nil, err
	}
	doc, found := dialect.Read(string(f), text)
	for _, d := range found {
		if d.Severity == dialect.Error {
			// Its message may quote the text.
			return nil, nil, fmt.Errorf("secrets: %s: it is not valid YAML or JSON (%s)", d.Pos(), d.Code)
		}
	}
	if !doc.Root.Is(expr.KindObject) {
		return nil, nil, fmt.Errorf("secrets: %s: it must be an object with a member for each secret", string(f))
	}
	all := map[string]expr.Value{}
	for _, m := range doc.Root.Members {
		if err := checkName(m.Name()); err != nil {
			return nil, nil, fmt.Errorf("secrets: %s: %w", m.KeySpan().Pos, err)
		}
		all[m.Name()] = m.Value()
	}
	return all, append(exposed(string(f), string(f)), weak(string(f), all)...), nil
}

// Dir is a source: a folder with a file for each secret, as Kubernetes mounts them. Hidden files
// are left out.
type Dir string

func (d Dir) files() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func (d Dir) state() (string, error) {
	files, err := d.files()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	current, _ := os.Readlink(filepath.Join(string(d), "..data")) // of Kubernetes: it names what is current
	out.WriteString(current)
	for _, name := range files {
		info, err := os.Stat(filepath.Join(string(d), name)) // of what a link names
		if err != nil {
			return "", fmt.Errorf("secrets: %w", err)
		}
		fmt.Fprintf(&out, "%q %s\n", name, describe(info))
	}
	return out.String(), nil
}

func (d Dir) read() (map[string]expr.Value, []string, error) {
	files, err := d.files()
	if err != nil {
		return nil, nil, err
	}
	all := map[string]expr.Value{}
	var paths []string
	total := 0
	for _, name := range files {
		path := filepath.Join(string(d), name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		if err := checkName(name); err != nil {
			return nil, nil, fmt.Errorf("secrets: %s: %w", path, err)
		}
		text, err := readFile(path)
		if err != nil {
			return nil, nil, err
		}
		if total += len(text); total > MaxBytes {
			return nil, nil, fmt.Errorf("secrets: %s: the files are larger than %d bytes (limit secret-bytes)", string(d), MaxBytes)
		}
		if all[name], err = parse(text); err != nil {
			return nil, nil, fmt.Errorf("secrets: %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return all, append(exposed(string(d), paths...), weak(string(d), all)...), nil
}

// Env is a source: the variables of the environment that begin with this prefix.
type Env string

func (Env) state() (string, error) { return "", nil }

func (e Env) read() (map[string]expr.Value, []string, error) {
	if e == "" {
		return nil, nil, fmt.Errorf("secrets: the prefix of environment variables is empty: every variable would be a secret")
	}
	all := map[string]expr.Value{}
	for _, pair := range os.Environ() {
		variable, text, _ := strings.Cut(pair, "=")
		name, ok := strings.CutPrefix(variable, string(e))
		if !ok || name == "" {
			continue
		}
		err := checkName(name)
		if err == nil {
			all[name], err = parse([]byte(text))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("secrets: variable %s: %w", variable, err)
		}
	}
	return all, weak(string(e), all), nil
}

// parse reads a secret: JSON if it is an object or a list, else text without the line's end.
func parse(text []byte) (expr.Value, error) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if v, err := expr.ParseJSON(trimmed); err == nil {
			return v, nil
		}
	}
	if !utf8.Valid(text) {
		return expr.Null, fmt.Errorf("it is not text (UTF-8); write it as base64")
	}
	return expr.String(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")), nil
}

// readFile reads a file of at most MaxBytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("secrets: %s is larger than %d bytes (limit secret-bytes)", path, MaxBytes)
	}
	return text, nil
}

// describe tells one state of a file from another.
func describe(info os.FileInfo) string {
	return fmt.Sprintf("%d %d %v", info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// exposed warns, once for a source, of files that every user of the machine can read.
func exposed(source string, paths ...string) []string {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o004 == 0 || !permissions {
			continue
		}
		return []string{fmt.Sprintf("%s holds secrets, and every user of this machine can read them (mode %v of %s); chmod o-r", source, info.Mode().Perm(), path)}
	}
	return nil
}

// weak warns of values that are not found in what workflows make of them.
func weak(where string, all map[string]expr.Value) []string {
	var out []string
	for _, name := range newSnapshot(all).Names() {
		if n := numbers(all[name]); n != "" {
			out = append(out, fmt.Sprintf("%s: the secret %q has %s, which is never redacted; write it as a string", where, name, n))
		}
	}
	return out
}

// numbers names a number in a value that is long enough to be a secret.
func numbers(v expr.Value) string {
	switch v.Kind() {
	case expr.KindNumber:
		if len(v.NumberText()) >= redact.MinText {
			return "a number"
		}
	case expr.KindArray:
		for _, item := range v.Items() {
			if n := numbers(item); n != "" {
				return n
			}
		}
	case expr.KindObject:
		for _, m := range v.Members() {
			if n := numbers(m.Value); n != "" {
				return n
			}
		}
	}
	return ""
}
