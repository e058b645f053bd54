package javascript

import (
	"regexp"
	"strings"
)

// imports rewrites the imports at the beginning of a script as calls of require: the engine knows no modules. Lines stay
// where they are. What stands after the first statement of another kind is left alone.
func imports(code string) string {
	var out strings.Builder
	for {
		if skip := blank.FindString(code); skip != "" {
			out.WriteString(skip)
			code = code[len(skip):]
			continue
		}
		m := statement.FindStringSubmatch(code)
		if m == nil {
			return out.String() + code
		}
		code = code[len(m[0]):]
		whole, star, named, module := m[1], m[2], m[3], m[4]
		get := "require(" + module + ");"
		switch {
		case whole != "":
			out.WriteString("const " + whole + " = " + get)
		case star != "":
			out.WriteString("const " + star + " = " + get)
		case named != "":
			out.WriteString("const {" + as.ReplaceAllString(named, "$1: $2") + "} = " + get)
		default:
			out.WriteString(get)
		}
		if missing := strings.Count(m[0], "\n") - strings.Count(named, "\n"); missing > 0 {
			out.WriteString(strings.Repeat("\n", missing))
		}
	}
}

var (
	blank     = regexp.MustCompile(`^(\s+|//[^\n]*|/\*(?s:.*?)\*/|;)`)
	statement = regexp.MustCompile(`^import\s*(?:(?:([\w$]+)|\*\s*as\s+([\w$]+)|\{([^{}]*)\})\s*from\s*)?("[^"\n]*"|'[^'\n]*')[ \t]*;?`)
	as        = regexp.MustCompile(`([\w$]+)\s+as\s+([\w$]+)`)
)
