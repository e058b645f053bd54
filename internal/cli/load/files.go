package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// Find lists the files among the paths, and the documents below those that are directories, without
// scenario files and hidden directories. found has the documents of directories: they may not be
// definitions. The error joins those of all directories that cannot be read.
func Find(paths []string) (files []string, found map[string]bool, err error) {
	found = map[string]bool{}
	var failed []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path) // reading it will report the error
			continue
		}
		below, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool {
			return cli.IsDocument(entry.Name()) && !scenario.IsFile(entry.Name())
		})
		for _, err := range cli.EachError(err) {
			failed = append(failed, fmt.Errorf("look for definitions: %w", err))
		}
		for _, file := range below {
			files = append(files, file)
			found[file] = true
		}
	}
	return files, found, errors.Join(failed...)
}

// IsDefinition reports whether a document of a folder is a definition, and not functions, a schema, an API
// description, or a file of another program.
func IsDefinition(d Definition) bool {
	return d.FrontEnd != nil || Resembles(d.Document)
}

// Resembles reports whether a document looks like a definition, as far as it can be read: it has the top-level key
// states, or document and do, as Open Workflow 1.0 has.
func Resembles(doc *dialect.Document) bool {
	has := func(key string) bool {
		switch {
		case doc.Root != nil:
			return doc.Root.Get(key) != nil
		case doc.Format == dialect.JSON:
			return topKey(doc.Source, key)
		}
		return keyLine[key].Match(doc.Source)
	}
	return has("states") || has("document") && has("do")
}

// keyLine finds a top-level key in text that may be invalid YAML.
var keyLine = map[string]*regexp.Regexp{
	"states":   regexp.MustCompile(`(?m)^(\x{feff})?(states|"states"|'states')[ \t]*:`),
	"document": regexp.MustCompile(`(?m)^(\x{feff})?(document|"document"|'document')[ \t]*:`),
	"do":       regexp.MustCompile(`(?m)^(do|"do"|'do')[ \t]*:`),
}

// topKey looks for a key of the outermost object in text that may be invalid JSON.
func topKey(text []byte, key string) bool {
	var open []byte // brackets
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			// A missing inner bracket is closed with the outer one.
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
func isScenario(d Definition) bool {
	root := d.Document.Root
	if root == nil || Resembles(d.Document) {
		return false
	}
	return scenario.IsFile(d.File) || root.Get("scenarios") != nil && root.Get("workflow") != nil
}

// RefuseScenario refuses a scenario file where a definition is needed.
func RefuseScenario(d Definition) error {
	if !isScenario(d) {
		return nil
	}
	return cli.Invalidf("%s is a scenario file, not a definition", d.File).
		WithHint(fmt.Sprintf("lockstep test %s runs it", cli.QuoteArg(d.File)))
}
