package cli

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// PollEvery is how often files are checked for changes. Notifications would need a library for each operating system.
const PollEvery = 300 * time.Millisecond

// Stamp identifies the content of a file, as far as its metadata can.
type Stamp struct {
	modified time.Time
	size     int64
}

// Stamps are those of files, by name.
type Stamps map[string]Stamp

// Add adds a file; one that does not exist has no stamp.
func (s Stamps) Add(file string) {
	if info, err := os.Stat(file); err == nil {
		s[file] = Stamp{info.ModTime(), info.Size()}
	}
}

// AddBelow adds a file, or the files of a folder that definitions may refer to.
func (s Stamps) AddBelow(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		s.Add(path)
		return nil
	}
	files, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool {
		return dialect.IsDocument(entry.Name()) || strings.HasSuffix(entry.Name(), ".proto")
	})
	for _, file := range files {
		s.Add(file)
	}
	return err
}

// Changed waits until the stamps that look returns are others than seen, and no longer change: then nobody writes the
// files. The error is that of ctx.
func Changed(ctx context.Context, seen Stamps, look func() Stamps) (Stamps, error) {
	ticker := time.NewTicker(PollEvery)
	defer ticker.Stop()
	before := seen
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		now := look()
		if maps.Equal(now, before) && !maps.Equal(now, seen) {
			return now, nil
		}
		before = now
	}
}
