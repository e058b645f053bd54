package jsonpath

// nearest returns the candidate that a misspelt word most likely means, "" if
// none is close.
func nearest(word string, candidates []string) string {
	if len(word) > 32 {
		return ""
	}
	best, bestCost := "", 1+min(2, len(word)/3)
	for _, c := range candidates {
		if d := editCost(word, c); d < bestCost {
			best, bestCost = c, d
		}
	}
	return best
}

// editCost counts the letters to insert, drop, replace or swap.
func editCost(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
