package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestDoctorMigratesNothing: a store of an older version is as it was after a look at it.
func TestDoctorMigratesNothing(t *testing.T) {
	packed, err := os.Open(filepath.Join("..", "..", "internal", "store", "sqlite", "testdata", "v1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	code := lockstep([]string{"doctor", "--store", "sqlite:" + file}, strings.NewReader(""), &out, &told)
	if code != cli.ExitError || !strings.Contains(told.String(), "it has schema 1, this version would migrate it to ") {
		t.Errorf("exit code %d: %s", code, told.String())
	}
	after, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file is another one (%v)", err)
	}
}
