package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Plain replaces control characters in foreign text, which a terminal might interpret, by dots.
func Plain(text string) string { return dialect.Plain(text) }

// SplitVersion splits ID@VERSION.
func SplitVersion(arg string) (id, version string) {
	if i := strings.LastIndexByte(arg, '@'); i > 0 {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// JoinVersion is the opposite; the version may be empty.
func JoinVersion(id, version string) string {
	if version == "" {
		return id
	}
	return id + "@" + version
}

// Plural is a number and its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Grouped is a number with a comma after each thousand.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Indent indents all lines.
func Indent(text, by string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// InState is the text " in STATE", if there is a state.
func InState(node string) string {
	if node == "" {
		return ""
	}
	return fmt.Sprintf(" in %q", node)
}

// FirstLine is the first line of a text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Short is the beginning of long text.
func Short(text string) string {
	const most = 500
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// Pairs are the members of a JSON object as key=value, such as labels; what is no object has none.
func Pairs(object []byte) string {
	v, err := expr.ParseJSON(object)
	if err != nil {
		return ""
	}
	var parts []string
	for _, m := range v.Members() {
		text := m.Value.String()
		if m.Value.Kind() == expr.KindString {
			text = m.Value.Str()
		}
		parts = append(parts, m.Key+"="+text)
	}
	return strings.Join(parts, " ")
}

// cell is text for one cell of a table.
func cell(text string) string {
	text = Plain(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return "-"
	}
	return text
}

// Yes is yes, or nothing.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// Ago is roughly how long ago an instant was.
func Ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return roughly(time.Since(t))
}

// roughly is a duration in one unit.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d/day))
}

// Instant is a time as people read it.
func Instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// HumanDuration is short: 0ms, 250ms, 2.5s, 1m30s, 30d.
func HumanDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < day:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dd%s", d/day, HumanDuration(d%day))
}
