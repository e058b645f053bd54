package sim

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const readme = "README.md"

var (
	tableRow  = regexp.MustCompile("(?m)^\\| (.+) \\| `(.+)` \\| (.+) \\|$")
	tableText = regexp.MustCompile("(?s)(\n\\| bug \\| where \\| found by \\|\n\\|---\\|---\\|---\\|\n)(.*?)(\n\n|\n$|$)")
)

// readTable reads what finds which bug from README.md.
func readTable(t *testing.T) map[string]string {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		known := false
		for _, p := range allPlants() {
			known = known || p.name == m[1] && p.in == m[2]
		}
		if !known && !*flagUpdate {
			t.Errorf("README.md lists %q in %s, which is no planted bug", m[1], m[2])
		}
		table[m[1]] = m[3]
	}
	return table
}

// writeTables writes both tables of README.md anew.
func writeTables(t *testing.T, table map[string]string) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, p := range allPlants() {
		if table[p.name] == "" {
			t.Fatalf("nothing is known of what finds %q; measure it, too", p.name)
		}
		rows = append(rows, fmt.Sprintf("| %s | `%s` | %s |", p.name, p.in, table[p.name]))
	}
	out := replaceRows(t, string(text), tableText, rows)
	out = replaceRows(t, out, rulesText, ruleRows(t, table))
	if err := os.WriteFile(readme, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

func replaceRows(t *testing.T, text string, at *regexp.Regexp, rows []string) string {
	if !at.MatchString(text) {
		t.Fatalf("README.md has no table like %s", at)
	}
	return at.ReplaceAllString(text, "${1}"+strings.ReplaceAll(strings.Join(rows, "\n"), "$", "$$")+"${3}")
}
