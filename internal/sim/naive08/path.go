package naive08

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	step     = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z_0-9]*)|\[(\d+)\]|\[\?\(([^)]*)\)\])`)
	question = regexp.MustCompile(`^@\.([A-Za-z_0-9]+) (==|>|<) (.*)$`)
)

// path evaluates the JSONPaths that cases use: names, indexes, and one filter, which gives the list of its matches.
func path(src string, data any) (v any, some bool) {
	v = data
	if strings.Contains(src, "[?") { // which is a list, also of nothing
		defer func() {
			if !some {
				v, some = []any{}, true
			}
		}()
	}
	rest := strings.TrimPrefix(strings.TrimSpace(src), "$")
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			panic("naive08: no path: " + src)
		}
		rest = rest[len(m[0]):]
		switch {
		case m[1] != "":
			next, ok := object(v)[m[1]]
			if !ok {
				return nil, false
			}
			v = next
		case m[2] != "":
			i, _ := strconv.Atoi(m[2])
			all := list(v)
			if i >= len(all) {
				return nil, false
			}
			v = all[i]
		default:
			matches := []any{}
			for _, item := range list(v) {
				if answers(m[3], item) {
					matches = append(matches, item)
				}
			}
			v = matches
		}
	}
	return v, true
}

// answers reports whether an item satisfies the question of a filter, which compares a member with a literal.
func answers(src string, item any) bool {
	m := question.FindStringSubmatch(src)
	has, ok := object(item)[m[1]]
	if !ok {
		return false
	}
	switch m[2] {
	case "==":
		switch want := m[3]; want {
		case "true", "false":
			return has == (want == "true")
		default:
			n, err := strconv.Atoi(want)
			return err == nil && equal(has, n)
		}
	default:
		n, _ := strconv.Atoi(m[3])
		number, ok := has.(int)
		return ok && (m[2] == ">" && number > n || m[2] == "<" && number < n)
	}
}
