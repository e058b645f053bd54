package open

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	plainName = regexp.MustCompile(`^[a-zA-Z0-9](-?[a-zA-Z0-9])*$`)
	semantic  = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)
	partial   = regexp.MustCompile(`^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?`)
)

// documentName is the name of a workflow in 1.0: letters, digits and hyphens between them, 63 at most.
func documentName(id string) string {
	if plainName.MatchString(id) && len(id) <= 63 {
		return id
	}
	var b strings.Builder
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	if len(name) > 63 {
		name = strings.Trim(name[:63], "-")
	}
	if name == "" {
		return "workflow"
	}
	return name
}

// semanticVersion is the nearest semantic version.
func semanticVersion(v string) string {
	if semantic.MatchString(v) {
		return v
	}
	m := partial.FindStringSubmatch(v)
	if m == nil {
		return "1.0.0"
	}
	out := make([]string, 3)
	for i := range out {
		if out[i] = strings.TrimLeft(m[i+1], "0"); out[i] == "" {
			out[i] = "0"
		}
	}
	return strings.Join(out, ".")
}

// childName is the workflow that another one starts.
func (w *writer) childName(id string) string {
	name := documentName(id)
	w.calls.Workflows[id] = name
	return name
}

// variable is a name that jq can have for a variable.
func variable(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "item"
	}
	switch b.String() {
	case "context", "input", "output", "secrets", "task", "workflow", "runtime", "authorization", "error":
		return b.String() + "_"
	}
	return b.String()
}

func quote(s string) string { return fmt.Sprintf("%q", s) }
