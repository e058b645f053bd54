package scenario

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Pretty writes a value as indented JSON, one member or item a line; what is
// short and flat stays on one line.
func Pretty(v expr.Value) string {
	var b strings.Builder
	pretty(&b, v, "")
	return b.String()
}

// flatWidth is how long a container may be to stay on one line.
const flatWidth = 60

func pretty(b *strings.Builder, v expr.Value, indent string) {
	items, members := v.Items(), v.Members()
	if len(items)+len(members) == 0 || flat(v) {
		b.Write(spaced(nil, v))
		return
	}
	open, end := "[", "]"
	if v.IsObject() {
		open, end = "{", "}"
	}
	b.WriteString(open)
	inner := indent + "  "
	for i := range max(len(items), len(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + inner)
		if v.IsObject() {
			b.Write(expr.AppendQuoted(nil, members[i].Key))
			b.WriteString(": ")
			pretty(b, members[i].Value, inner)
			continue
		}
		pretty(b, items[i], inner)
	}
	b.WriteString("\n" + indent + end)
}

// flat reports whether a container is short and holds no containers with content.
func flat(v expr.Value) bool {
	for _, m := range v.Members() {
		if m.Value.IsArray() || m.Value.IsObject() {
			return false
		}
	}
	for _, it := range v.Items() {
		if it.IsArray() || it.IsObject() {
			return false
		}
	}
	return len(v.AppendJSON(nil)) <= flatWidth
}

// spaced is compact JSON with a blank after colons and commas.
func spaced(dst []byte, v expr.Value) []byte {
	switch {
	case v.IsObject():
		dst = append(dst, '{')
		for i, m := range v.Members() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(expr.AppendQuoted(dst, m.Key), ": "...)
			dst = spaced(dst, m.Value)
		}
		return append(dst, '}')
	case v.IsArray():
		dst = append(dst, '[')
		for i, it := range v.Items() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = spaced(dst, it)
		}
		return append(dst, ']')
	}
	return v.AppendJSON(dst)
}

// maxDiffLines bounds the table of the comparison; longer texts are shown one
// after the other.
const maxDiffLines = 2000

// Diff aligns two texts line by line: lines only expected begin with "-", lines
// only got with "+", common ones with a blank.
func Diff(expected, got string) []string {
	a, b := strings.Split(expected, "\n"), strings.Split(got, "\n")
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return append(prefixed("- ", a), prefixed("+ ", b)...)
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case same(a[i], b[j]):
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	out = append(out, prefixed("- ", a[i:])...)
	return append(out, prefixed("+ ", b[j:])...)
}

// same compares lines of JSON without the comma that only says "not the last".
func same(a, b string) bool { return strings.TrimSuffix(a, ",") == strings.TrimSuffix(b, ",") }

func prefixed(prefix string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = prefix + line
	}
	return out
}
