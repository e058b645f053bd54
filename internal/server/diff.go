package server

import (
	"fmt"
	"strings"
)

// maxEdits is how many lines may differ before a comparison gives up and shows one text
// replaced by the other ("diff-edits").
const maxEdits = 1000

// diffContext is how many equal lines are shown around those that differ.
const diffContext = 3

// edit is a line of a comparison: ' ' both have it, '-' only the first, '+' the second.
type edit struct {
	op   byte
	line string
}

// unified compares two texts by lines, as diff -u does. Equal texts give "".
func unified(nameA, nameB, a, b string) string {
	if a == b {
		return ""
	}
	edits := compareLines(lines(a), lines(b))
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", nameA, nameB)
	lineA, lineB := 1, 1
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			lineA, lineB, i = lineA+1, lineB+1, i+1
			continue
		}
		begin := max(0, i-diffContext)
		end := hunkEnd(edits, i)
		countA, countB := 0, 0
		for _, e := range edits[begin:end] {
			if e.op != '+' {
				countA++
			}
			if e.op != '-' {
				countB++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(lineA-(i-begin), countA), span(lineB-(i-begin), countB))
		for _, e := range edits[begin:end] {
			out.WriteByte(e.op)
			out.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		lineA, lineB, i = lineA+countA-(i-begin), lineB+countB-(i-begin), end
	}
	return out.String()
}

// hunkEnd is where a piece ends that begins to differ at i: when enough lines are equal.
func hunkEnd(edits []edit, i int) int {
	equal := 0
	for ; i < len(edits) && equal <= 2*diffContext; i++ {
		if equal++; edits[i].op != ' ' {
			equal = 0
		}
	}
	return i - max(0, equal-diffContext)
}

func span(line, count int) string {
	if count == 0 {
		line--
	}
	if count == 1 {
		return itoa(int64(line))
	}
	return fmt.Sprintf("%d,%d", line, count)
}

func lines(s string) []string {
	list := strings.SplitAfter(s, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// compareLines finds a shortest list of edits (Myers, 1986).
func compareLines(a, b []string) []edit {
	most := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*most+2)
	var trail [][]int
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[most+k-1] < v[most+k+1]:
				x = v[most+k+1]
			default:
				x = v[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(a, b, trail, d)
			}
		}
		trail = append(trail, append([]int(nil), v[most-d:most+d+1]...))
	}
	var out []edit
	for _, line := range a {
		out = append(out, edit{'-', line})
	}
	for _, line := range b {
		out = append(out, edit{'+', line})
	}
	return out
}

// backtrack follows the furthest points back from the end. trail[d] has those of the
// diagonals -d … d.
func backtrack(a, b []string, trail [][]int, d int) []edit {
	x, y := len(a), len(b)
	var back []edit
	for ; d > 0; d-- {
		v := trail[d-1]
		at := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return v[k+d-1]
		}
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		begin := at(from) // then one line is taken from a or b, then equal ones follow
		if !down {
			begin++
		}
		for x > begin {
			x, y = x-1, y-1
			back = append(back, edit{' ', a[x]})
		}
		if down {
			y--
			back = append(back, edit{'+', b[y]})
		} else {
			x--
			back = append(back, edit{'-', a[x]})
		}
	}
	for x > 0 {
		x--
		back = append(back, edit{' ', a[x]})
	}
	out := make([]edit, len(back))
	for i, e := range back {
		out[len(back)-1-i] = e
	}
	return out
}
