package dialect

import (
	_ "embed" // of codes.md
	"slices"
	"strings"
)

// Explanation is what `lockstep explain CODE` prints.
type Explanation struct {
	Code, Title, Text string

	// Excerpts of documents: Bad leads to the code, Good does not.
	Bad, Good string
}

// Explain finds a code in the tables.
func Explain(code string, tables ...[]Explanation) (Explanation, bool) {
	for _, table := range tables {
		i := slices.IndexFunc(table, func(e Explanation) bool { return strings.EqualFold(e.Code, code) })
		if i >= 0 {
			return table[i], true
		}
	}
	return Explanation{}, false
}

// ParseExplanations reads the codes.md of a package: a heading "## CODE: title" for each
// code, its text, and two blocks between fences, the bad example before the good one.
func ParseExplanations(page string) []Explanation {
	var out []Explanation
	for _, section := range strings.Split(page, "\n## ")[1:] {
		heading, rest, _ := strings.Cut(section, "\n")
		code, title, _ := strings.Cut(heading, ": ")
		text, examples, _ := strings.Cut(rest, "\nWrong:\n")
		bad, examples := cutFenced(examples)
		good, _ := cutFenced(examples)
		out = append(out, Explanation{code, title, unwrap(text), bad, good})
	}
	return out
}

// unwrap writes each paragraph on one line.
func unwrap(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n")
}

// cutFenced returns the first block between fences, and what follows it.
func cutFenced(text string) (block, rest string) {
	_, text, _ = strings.Cut(text, "```yaml\n")
	block, rest, _ = strings.Cut(text, "```\n")
	return block, rest
}

//go:embed codes.md
var codesPage string

// Codes explains the codes of this package.
func Codes() []Explanation {
	// The page is UTF-8, and its example of another encoding cannot be.
	return ParseExplanations(strings.Replace(codesPage, "<E9>", "\xe9", 1))
}
