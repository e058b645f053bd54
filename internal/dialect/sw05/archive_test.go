package sw05

import (
	"os"
	"strings"
	"testing"
)

// archive is a text file of files, as txtar has it: a comment, then files that
// each begin with a line "-- name --".
type archive struct {
	comment string
	files   []archived
}

type archived struct{ name, text string }

func readArchive(t testing.TB, path string) *archive {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ar := &archive{}
	for line := range strings.Lines(string(source)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if name, closed := strings.CutSuffix(name, " --"); ok && closed {
			ar.files = append(ar.files, archived{name: name})
			continue
		}
		if len(ar.files) == 0 {
			ar.comment += line
		} else {
			ar.files[len(ar.files)-1].text += line
		}
	}
	return ar
}

func (ar *archive) write(t testing.TB, path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(ar.comment)
	for _, f := range ar.files {
		b.WriteString("-- " + f.name + " --\n" + f.text)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// set replaces a file, or removes it where the text is empty.
func (ar *archive) set(name, text string) {
	kept := ar.files[:0]
	for _, f := range ar.files {
		if f.name != name {
			kept = append(kept, f)
		}
	}
	if ar.files = kept; text != "" {
		ar.files = append(ar.files, archived{name, text})
	}
}
