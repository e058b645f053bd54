package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// readFile reads a file and, where it is missing, names one that may be meant.
func readFile(ctx context.Context, path string) ([]byte, error) {
	text, err := dialect.ReadFile(ctx, path)
	if err == nil {
		return text, nil
	}
	f := asFailure(err)
	if errors.Is(err, fs.ErrNotExist) {
		f.detail = fmt.Sprintf("there is no file %q", path)
		if to, err := os.Readlink(path); err == nil {
			f.detail = fmt.Sprintf("%q is a link to %q, which does not exist", path, to)
		} else if near := nearFile(path); near != "" {
			f.hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return nil, f
}

func nearFile(path string) string {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := dialect.Suggest(name, names); near != "" {
		return dir + near
	}
	return ""
}

// findDefinitions lists the files among the paths, and the documents below those
// that are directories; scenario files and hidden directories are passed over.
// found tells those of the second kind: they may be something else than definitions.
// Folders that cannot be read are told together, beside what is found elsewhere.
func findDefinitions(paths []string) (files []string, found map[string]bool, err error) {
	found = map[string]bool{}
	var failed []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path) // reading it will tell what is wrong
			continue
		}
		below, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool {
			return isDocument(entry.Name()) && !scenario.IsFile(entry.Name())
		})
		for _, err := range eachError(err) {
			failed = append(failed, fmt.Errorf("look for definitions: %w", err))
		}
		for _, file := range below {
			files = append(files, file)
			found[file] = true
		}
	}
	return files, found, errors.Join(failed...)
}

// eachError takes joined errors apart.
func eachError(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func isDocument(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// looksLikeDefinition tells a definition from the other documents of a folder:
// functions, schemas, API descriptions, and what belongs to other programs.
func looksLikeDefinition(d definition) bool {
	return d.FrontEnd != nil || hasStates(d.Document)
}

// hasStates reports whether a document has states at its top, as far as it can be read.
func hasStates(doc *dialect.Document) bool {
	switch {
	case doc.Root != nil:
		return doc.Root.Get("states") != nil
	case doc.Format == dialect.JSON:
		return topKey(doc.Source, "states")
	}
	return statesLine.Match(doc.Source)
}

var statesLine = regexp.MustCompile(`(?m)^(\x{feff})?(states|"states"|'states')[ \t]*:`)

// topKey looks for a key of the outermost object in text that may be no sound JSON.
func topKey(text []byte, key string) bool {
	var open []byte // brackets
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			// A bracket that was forgotten inside is closed with the one around it.
			if at := bytes.LastIndexByte(open, c-2); at >= 0 {
				open = open[:at]
			}
		case '"':
			begin := i + 1
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			name := text[begin:min(i, len(text))]
			rest := bytes.TrimLeft(text[min(i+1, len(text)):], " \t\r\n")
			if len(open) == 1 && string(name) == key && bytes.HasPrefix(rest, []byte(":")) {
				return true
			}
		}
	}
	return false
}

// isScenario reports whether what was read as a definition is a scenario file.
func isScenario(d definition) bool {
	root := d.Document.Root
	if root == nil || root.Get("states") != nil {
		return false
	}
	return scenario.IsFile(d.file) || root.Get("scenarios") != nil && root.Get("workflow") != nil
}

// notDefinition refuses a scenario file where a definition is needed.
func notDefinition(d definition) error {
	if !isScenario(d) {
		return nil
	}
	f := invalidf("%s is a scenario file, not a definition", d.file)
	f.hint = fmt.Sprintf("lockstep test %s runs it", quoteArg(d.file))
	return f
}

// stdinOnce refuses to read stdin for several files.
func stdinOnce(args []string) error {
	seen := false
	for _, arg := range args {
		if arg == "-" && seen {
			return usagef("- is given twice, and stdin can be read once")
		}
		seen = seen || arg == "-"
	}
	return nil
}
