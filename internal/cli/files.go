package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// QuoteArg quotes a name for a shell.
func QuoteArg(name string) string {
	if strings.ContainsAny(name, " '\"$\\!*?[](){}<>|&;`~#") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// ReadFile reads a file. If it does not exist, the error suggests a similar name.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	text, err := dialect.ReadFile(ctx, path)
	if err == nil {
		return text, nil
	}
	f := AsFailure(err)
	if errors.Is(err, fs.ErrNotExist) {
		f.Detail = fmt.Sprintf("there is no file %q", path)
		if to, err := os.Readlink(path); err == nil {
			f.Detail = fmt.Sprintf("%q is a link to %q, which does not exist", path, to)
		} else if near := nearFile(path); near != "" {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
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

// EachError splits joined errors.
func EachError(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
