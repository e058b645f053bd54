package server

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Folder is a bundle in a file system.
type Folder struct {
	Files            fs.FS
	Definitions      []string // paths; nil: all that are found
	Dialect          string   // of all definitions; empty: it is detected
	AllowUnreachable bool
	AllowMismatch    bool
}

// read reads the definitions of a folder. What they refer to is read when they are compiled.
func (s *Server) read(f Folder) (Bundle, error) {
	b := Bundle{Whole: true, AllowUnreachable: f.AllowUnreachable, AllowMismatch: f.AllowMismatch}
	names, found := f.Definitions, f.Definitions == nil
	if found {
		var err error
		if names, err = findDocuments(f.Files); err != nil {
			return b, err
		}
	}
	for _, name := range names {
		text, err := readDocument(f.Files, name)
		if err != nil {
			return b, err
		}
		if found && !s.cfg.Registry.IsDefinition(name, text) {
			continue
		}
		folder, err := fs.Sub(f.Files, path.Dir(name))
		if err != nil {
			return b, err
		}
		b.Documents = append(b.Documents, Document{Name: name, Text: text, Dialect: f.Dialect, Files: dialect.FSBundle(folder, ".")})
	}
	return b, nil
}

// readDocument reads a document up to one byte more than the limit document-bytes: compiling reports a longer one.
func readDocument(files fs.FS, name string) ([]byte, error) {
	if err := checkBundlePath(name); err != nil {
		return nil, err
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return dialect.ReadLimited(file)
}

// findDocuments lists the files that may be definitions.
func findDocuments(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.Type()&^fs.ModeSymlink == 0 && MayBeDefinition(name):
			names = append(names, name)
		}
		if len(names) > MaxBundleFiles {
			return overLimit("bundle-files", fmt.Sprintf("the bundle has more than %d documents", MaxBundleFiles))
		}
		return nil
	})
	return names, err
}
