package dialect

import (
	"strings"
	"unicode/utf8"
)

// longestSuggestion bounds the work of Suggest; longer names are not typing mistakes.
const longestSuggestion = 80

// Suggest returns the candidate that got was most likely meant to be, or ""
// when none is near. Among equally near ones the first wins.
func Suggest(got string, among []string) string {
	if got == "" || len(got) > longestSuggestion {
		return ""
	}
	best, bestCost := "", -1
	for _, c := range among {
		if c == got || c == "" || len(c) > longestSuggestion {
			continue
		}
		// A third of the letters may be wrong, and one in the shortest names.
		limit := max(2, 2*max(len(got), len(c))/3)
		if longer := utf8.RuneCountInString(got) - utf8.RuneCountInString(c); 2*max(longer, -longer) > limit {
			continue // it cannot be near, and comparing all letters takes long
		}
		cost := editCost(got, c)
		if cost > limit || cost >= 2*min(len(got), len(c)) {
			continue
		}
		if bestCost < 0 || cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// editCost is the Damerau distance (optimal string alignment) in half steps: a
// wrong, missing, extra or swapped letter costs 2, a letter in the wrong case 1
// — and nothing but case wrong costs 1 in all.
func editCost(a, b string) int {
	if strings.EqualFold(a, b) {
		return 1
	}
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = 2 * j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = 2 * i
		for j := 1; j <= len(t); j++ {
			row[j] = min(last[j]+2, row[j-1]+2, last[j-1]+letterCost(s[i-1], t[j-1]))
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+2)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

func letterCost(a, b rune) int {
	switch {
	case a == b:
		return 0
	case strings.EqualFold(string(a), string(b)):
		return 1
	}
	return 2
}
