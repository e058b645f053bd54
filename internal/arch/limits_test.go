package arch

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

const limitsFile = "docs/limits.md"

var (
	// In a message, as the argument of a function that makes a fault, or in an expr.LimitError.
	limitInText = regexp.MustCompile(`\blimit ([a-z]+(?:-[a-z]+)+)\b|(?:limitFault\(|LimitError\{(?:Limit: )?)"([a-z-]+)"`)
	limitInPage = regexp.MustCompile("^\\| `([a-z]+(?:-[a-z]+)*)` \\|([^|]*)")
)

// limitsPage: a limit that an error message names is on the page of limits, what is
// on the page is in the code, and where a comment in the code says which number is the
// limit, the page has the same.
func limitsPage(m *Module) []Violation {
	page, err := fs.ReadFile(m.fsys, limitsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []Violation{{At: limitsFile, Text: err.Error()}}
	}
	var found []Violation
	listed := map[string]bool{}
	for _, line := range strings.Split(string(page), "\n") {
		if match := limitInPage.FindStringSubmatch(line); match != nil {
			listed[match[1]] = true
		}
	}
	values := m.limitValues(listed)
	for i, line := range strings.Split(string(page), "\n") {
		match := limitInPage.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		at := fmt.Sprintf("%s:%d", limitsFile, i+1)
		if want, ok := numberOn(match[2]); ok && len(values[match[1]]) > 0 && !slices.Contains(values[match[1]], want) {
			found = append(found, Violation{
				At:   at,
				Text: fmt.Sprintf("the limit %s is %s here and %s in the code", match[1], want, strings.Join(values[match[1]], " or ")),
			})
		}
		if !m.mentions(match[1]) {
			found = append(found, Violation{
				At:   at,
				Text: fmt.Sprintf("no code knows the limit %s; remove it or correct the name", match[1]),
			})
		}
	}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test || p.Dir == "internal/arch" {
				continue
			}
			for i, line := range strings.Split(f.Text, "\n") {
				for _, match := range limitInText.FindAllStringSubmatch(line, -1) {
					if name := match[1] + match[2]; !listed[name] {
						found = append(found, Violation{
							At:   fmt.Sprintf("%s:%d", f.Path, i+1),
							Text: fmt.Sprintf("the limit %s is not on the page of limits; add it to %s", name, limitsFile),
						})
					}
				}
			}
		}
	}
	return found
}

// whole matches a limit's name where it is not a part of a longer one.
func whole(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^a-z-])` + name + `($|[^a-z-])`)
}

// mentions reports whether the code outside of tests contains a limit's name.
func (m *Module) mentions(name string) bool {
	match := whole(name)
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if !f.Test && strings.Contains(f.Text, name) && match.MatchString(f.Text) {
				return true
			}
		}
	}
	return false
}
