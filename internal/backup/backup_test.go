package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// sample is a backup with a large part, a small one and an empty one.
func sample(t *testing.T) ([]byte, map[string]string) {
	t.Helper()
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&text, "row", i*7919)
	}
	parts := map[string]string{"large": text.String(), "small": "a", "empty": ""}
	var out bytes.Buffer
	w, err := NewWriter(&out, Head{Store: "sqlite", Schema: 5, Created: time.Unix(1, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"large", "small", "empty"} {
		if err := w.Part(name, func(w io.Writer) (int64, error) {
			_, err := io.WriteString(w, parts[name])
			return 3, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), parts
}

type collected struct{ *bytes.Buffer }

func (collected) Close() error { return nil }

func read(data []byte) (map[string]string, Head, Manifest, error) {
	got := map[string]*bytes.Buffer{}
	head, m, err := Read(bytes.NewReader(data), func(_ Head, name string) (io.WriteCloser, error) {
		got[name] = &bytes.Buffer{}
		return collected{got[name]}, nil
	})
	out := map[string]string{}
	for name, b := range got {
		out[name] = b.String()
	}
	return out, head, m, err
}

func TestRoundTrip(t *testing.T) {
	data, parts := sample(t)
	got, head, m, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range parts {
		if got[name] != want {
			t.Errorf("part %s has %d bytes, want %d", name, len(got[name]), len(want))
		}
	}
	if head.Format != Format || head.Store != "sqlite" || head.Schema != 5 || len(m.Parts) != 3 || m.Parts[0].Rows != 3 {
		t.Errorf("head %+v, manifest %+v", head, m)
	}
}

// TestDamaged: no file that ends early or has another byte is taken for a backup.
func TestDamaged(t *testing.T) {
	data, parts := sample(t)
	refused := func(what string, data []byte) {
		t.Helper()
		got, _, _, err := read(data)
		var bad *DamagedError
		if err == nil || !errors.As(err, &bad) {
			for name, want := range parts {
				if got[name] != want {
					t.Errorf("%s: %v, and part %s differs", what, err, name)
				}
			}
		}
	}
	for n := 0; n < len(data); n += 1 + len(data)/40 {
		if _, _, _, err := read(data[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for a backup", n, len(data))
		}
		refused(fmt.Sprint("cut at ", n), data[:n])
	}
	if _, _, _, err := read(data[:len(data)-1]); err == nil {
		t.Error("without its last byte it is taken for a backup")
	}
	for i := 0; i < len(data); i += 1 + len(data)/40 {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		refused(fmt.Sprint("flipped at ", i), flipped)
	}
	_, _, _, err := read([]byte("something else"))
	if err == nil || err.Error() != "it is not a backup of lockstep" {
		t.Error(err)
	}
}

// TestNewerFormat: a backup of a later version is refused by name.
func TestNewerFormat(t *testing.T) {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := Writer{gz: gz, tar: tar.NewWriter(gz)}
	if err := errors.Join(w.object(headName, Head{Format: Format + 1}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHead(&out); err == nil || !strings.Contains(err.Error(), "written by a newer one") {
		t.Error(err)
	}
}
