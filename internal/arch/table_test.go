package arch

import (
	"fmt"
	"regexp"
	"strings"
)

// Table is what ARCHITECTURE.md says of each package, by its short name.
type Table map[string]Row

// Row is one package of the table.
type Row struct {
	Line      int      // in ARCHITECTURE.md
	MayImport []string // of our own packages
	All       bool     // may import every one
}

// Allows reports whether a package with this row may import another of ours.
func (r Row) Allows(dir string) bool {
	if r.All {
		return true
	}
	for _, d := range r.MayImport {
		if d == dir {
			return true
		}
	}
	return false
}

// short is the name of the package in dir as ARCHITECTURE.md writes it: without internal/, where all
// but the public packages and the programs are.
func short(dir string) string { return strings.TrimPrefix(dir, "internal/") }

var (
	quotedName = regexp.MustCompile("`([a-z0-9_./]+)`")
	tableHead  = []string{"package", "holds", "may import"}
)

// parseTable finds the table with the columns "package", "holds" and "may
// import". The outer columns name packages in backquotes; in the last, "all" and
// "nothing" stand for themselves.
func parseTable(markdown string) (Table, error) {
	table, inside := Table{}, false
	for i, text := range strings.Split(markdown, "\n") {
		line := i + 1
		cells := tableCells(text)
		switch {
		case !inside:
			inside = equalCells(cells, tableHead)
			continue
		case cells == nil:
			return table, nil // the table is over
		case strings.Trim(strings.Join(cells, ""), "-: ") == "":
			continue // the rule under the head
		case len(cells) != len(tableHead):
			return nil, fmt.Errorf("line %d: %d columns instead of %d", line, len(cells), len(tableHead))
		}
		names := quotedNames(cells[0])
		if len(names) == 0 {
			return nil, fmt.Errorf("line %d: no package in backquotes in the first column", line)
		}
		row := Row{Line: line, MayImport: quotedNames(cells[2]), All: cells[2] == "all"}
		if !row.All && len(row.MayImport) == 0 && cells[2] != "nothing" {
			return nil, fmt.Errorf(`line %d: the last column is neither packages in backquotes nor "all" nor "nothing"`, line)
		}
		for _, name := range names {
			if _, twice := table[name]; twice {
				return nil, fmt.Errorf("line %d: %s is in the table twice", line, name)
			}
			table[name] = row
		}
	}
	if !inside {
		return nil, fmt.Errorf("no table with the columns %s", strings.Join(tableHead, " | "))
	}
	return table, nil
}

// tableCells splits a row of a Markdown table; nil when text is none.
func tableCells(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(text, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func equalCells(a, b []string) bool {
	return strings.Join(a, "|") == strings.Join(b, "|")
}

func quotedNames(cell string) []string {
	var names []string
	for _, m := range quotedName.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}
