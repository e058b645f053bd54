package stores

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/backup"
)

// TestFailedExport: what a failed export leaves behind is not a backup.
func TestFailedExport(t *testing.T) {
	for name, failure := range map[string]error{"whole": nil, "failed": errors.New("disk full")} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "one.partial")
			err := write(file, backup.Head{Store: Postgres}, func(out *backup.Writer) error {
				return errors.Join(out.Part(databasePart, func(io.Writer) (int64, error) { return 0, nil }), failure)
			})
			if !errors.Is(err, failure) {
				t.Fatalf("%v, want %v", err, failure)
			}
			if _, _, _, err := Verify(t.Context(), file); (err == nil) != (failure == nil) {
				t.Errorf("verified: %v", err)
			}
		})
	}
}
