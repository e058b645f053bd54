package store

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Storable reports whether every store takes a text as a name: PostgreSQL holds no text with a
// zero byte, or that is not UTF-8. What is data may be anything.
func Storable(text string) bool {
	return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0
}

// named is a text with what it is.
type named struct{ what, text string }

func checkText(of string, list ...named) error {
	for _, n := range list {
		if !Storable(n.text) {
			return fmt.Errorf("%s: %s %.100q: %w", of, n.what, n.text, ErrText)
		}
	}
	return nil
}

// CheckText refuses a definition that has a name that is not stored: an ErrText.
func (d *Definition) CheckText() error {
	return checkText("definition", named{"id", d.ID}, named{"version", d.Version}, named{"digest", d.Digest})
}

// CheckText refuses an instance that has a name that is not stored: an ErrText.
func (in *Instance) CheckText() error {
	return checkText("instance", named{"id", in.ID}, named{"name", in.Name}, named{"key", in.Key}, named{"definition", in.Definition}, named{"version", in.Version}, named{"digest", in.Digest},
		named{"parent", in.Parent}, named{"client", in.Job.Client}, named{"state", in.Job.State}, named{"group", in.Job.Group})
}
