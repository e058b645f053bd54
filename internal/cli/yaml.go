package cli

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// FlowYAML is text as a scalar in YAML's flow style.
func FlowYAML(text string) string { return scalarYAML(expr.String(text)) }

// ToYAML is a value as YAML 1.2.
func ToYAML(v expr.Value) string {
	var b strings.Builder
	blockYAML(&b, v, "")
	return b.String()
}

func blockYAML(b *strings.Builder, v expr.Value, indent string) {
	switch {
	case v.IsObject() && v.Len() > 0:
		for _, m := range v.Members() {
			b.WriteString(indent + scalarYAML(expr.String(m.Key)) + ":")
			nestedYAML(b, m.Value, indent)
		}
	case v.IsArray() && v.Len() > 0:
		for _, item := range v.Items() {
			b.WriteString(indent + "-")
			nestedYAML(b, item, indent)
		}
	default:
		b.WriteString(indent + scalarYAML(v) + "\n")
	}
}

// nestedYAML writes what follows a key or a dash.
func nestedYAML(b *strings.Builder, v expr.Value, indent string) {
	if (v.IsObject() || v.IsArray()) && v.Len() > 0 {
		b.WriteByte('\n')
		blockYAML(b, v, indent+"  ")
		return
	}
	b.WriteString(" " + scalarYAML(v) + "\n")
}

// plainYAML is text that no YAML parser, old or new, takes for something else.
var (
	plainYAML = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*([ ./-][A-Za-z0-9_]+)*$`)
	wordsYAML = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

func scalarYAML(v expr.Value) string {
	if v.Kind() == expr.KindString && plainYAML.MatchString(v.Str()) && !wordsYAML.MatchString(v.Str()) {
		return v.Str()
	}
	return v.String()
}
