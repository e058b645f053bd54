package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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
			return dialect.IsDocument(entry.Name()) && !scenario.IsFile(entry.Name())
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

// isScenario reports whether what was read as a definition is a scenario file.
func isScenario(d Definition) bool {
	root := d.Document.Root
	if root == nil || d.Document.Resembles() {
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
