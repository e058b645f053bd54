package sw05

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// How many names, and letters of them, a hint lists.
const (
	fewNames   = 6
	fewLetters = 120
)

// listNames adds what there is as a hint, where it is not much.
func listNames(d *dialect.Diagnostic, names []string) {
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
