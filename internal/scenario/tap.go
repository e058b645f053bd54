package scenario

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// WriteTAP writes reports in the Test Anything Protocol, version 14. A file that
// cannot be used is one failing test.
func WriteTAP(w io.Writer, reports []Report) error {
	var b strings.Builder
	n := 0
	for _, r := range reports {
		if r.Diagnostics.HasErrors() {
			n++
			fmt.Fprintf(&b, "not ok %d - %s\n", n, tapText(r.File))
			tapBlock(&b, strings.Split(r.Diagnostics.Error(), "\n"))
			continue
		}
		for _, result := range r.Results {
			n++
			word := "ok"
			if !result.Passed() {
				word = "not ok"
			}
			fmt.Fprintf(&b, "%s %d - %s\n", word, n, tapText(r.File+": "+result.Name))
			if !result.Passed() {
				tapBlock(&b, append([]string{"at " + result.At.String()}, failureLines(result)...))
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", n, b.String())
	return err
}

// tapText escapes what would begin a directive, and keeps to one line.
func tapText(s string) string {
	return dialect.Plain(strings.NewReplacer("\\", "\\\\", "#", "\\#", "\n", " ", "\r", " ").Replace(s))
}

// tapBlock writes the YAML block of a failing test: its message as block text.
func tapBlock(b *strings.Builder, lines []string) {
	b.WriteString("  ---\n  message: |\n")
	for _, line := range lines {
		fmt.Fprintf(b, "    %s\n", dialect.Plain(line))
	}
	b.WriteString("  ...\n")
}
