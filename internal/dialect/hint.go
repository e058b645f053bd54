package dialect

import (
	"fmt"
	"strings"
)

// How many names, and letters of them, a hint lists.
const (
	fewNames   = 6
	fewLetters = 120
)

// ListNames adds what there is as a hint, where it is not much.
func ListNames(d *Diagnostic, names []string) {
	if len(names) == 0 || len(names) > fewNames {
		return
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if list := strings.Join(quoted, ", "); len(list) <= fewLetters {
		d.WithHint("defined here: %s", list)
	}
}
