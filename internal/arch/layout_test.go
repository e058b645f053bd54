package arch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines is how long a file may be, tests apart.
const maxLines = 500

// vagueNames say nothing of what a package holds.
var vagueNames = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "pkg", "misc", "base", "lib",
}

// packageComment: every package tells a newcomer what it is.
func packageComment(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		doc := ""
		for _, f := range p.Files {
			if text := f.AST.Doc.Text(); text != "" {
				doc = text
				if !f.Test {
					break
				}
			}
		}
		want := "Package " + p.Name + " "
		switch {
		case doc == "":
			found = append(found, Violation{At: p.Dir, Text: "no package comment; write a doc.go that a newcomer can start from"})
		case p.Name != "main" && !strings.HasPrefix(doc, want):
			found = append(found, Violation{At: p.Dir, Text: fmt.Sprintf("the package comment does not begin with %q; let it do so", want)})
		}
	}
	return found
}

// packageName: a package is named after what it holds.
func packageName(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, name := range append(strings.Split(p.Dir, "/"), p.Name) {
			if slices.Contains(vagueNames, name) {
				found = append(found, Violation{
					At:   p.Dir,
					Text: fmt.Sprintf("%q says nothing of what the package holds; name it after that", name),
				})
				break
			}
		}
	}
	return found
}

// fileSize: a file is one concern, and a reader can hold it in the head.
func fileSize(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test || f.Lines <= maxLines {
				continue
			}
			found = append(found, Violation{
				At:   f.Path,
				Text: fmt.Sprintf("%d lines, more than %d; split %s by subject", f.Lines, maxLines, path.Base(f.Path)),
			})
		}
	}
	return found
}

var (
	undone = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	reason = regexp.MustCompile(`^\([^()\s][^()]*\)`)
)

// unfinished: what is left undone says why.
func unfinished(m *Module) []Violation {
	var found []Violation
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, group := range f.AST.Comments {
				for _, c := range group.List {
					for _, at := range undone.FindAllStringIndex(c.Text, -1) {
						if reason.MatchString(c.Text[at[1]:]) {
							continue
						}
						found = append(found, Violation{
							At:   m.at(c.Pos()),
							Func: f.enclosing(c.Pos()),
							Text: fmt.Sprintf("%s without a reason; do it now, or write the reason in parentheses behind the word", c.Text[at[0]:at[1]]),
						})
					}
				}
			}
		}
	}
	return found
}
