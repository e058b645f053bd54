package convert

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// rebase writes a path from another root: every $ outside of quotes is one. Those
// inside of filters are single values, so [*] is [0] there.
func rebase(src, root string) string {
	inner := strings.NewReplacer("[*]", "[0]", "[-1:]", "[-1]").Replace(root)
	if root == "@" {
		inner = "$[0]"
	}
	var b strings.Builder
	var quote byte
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(src):
			b.WriteByte(c)
			i++
			c = src[i]
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case c == '/' && strings.HasSuffix(strings.TrimRight(src[:i], " "), "=~"):
			quote = '/'
		case c == '$' && i == 0:
			b.WriteString(root)
			continue
		case c == '$':
			b.WriteString(inner)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// member is a path with one name more.
func member(root, key string) string {
	plain := key != ""
	for i, c := range key {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		plain = plain && (letter || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return root + "." + key
	}
	return root + "[" + quoted(key) + "]"
}

// quoted writes text in a path.
func quoted(s string) string {
	if strings.ContainsAny(s, `'\`) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return string(expr.AppendQuoted(nil, s))
	}
	return "'" + s + "'"
}
