package regex

import "regexp/syntax"

// What a compiled pattern takes, in bytes. The figures were measured with Go 1.26 and hold as
// upper bounds, see TestWeightIsTheMemory.
const (
	patternBytes = 2 << 10 // the rest of a pattern, with what the allocator rounds up
	linearBytes  = 56      // an instruction of Go's program
	onepassBytes = 208     // an instruction of Go's program in both of its forms
	mergedBytes  = 16      // a range of characters at a branch of the one-pass form
	textBytes    = 4       // a character of the text for Go, which holds every range as well
	instBytes    = 56      // an instruction of the backtracking matcher
	nodeBytes    = 192     // a node of either tree: programs keep those that hold characters
	rangeBytes   = 16      // a range of characters in it
)

// maxOnepass bounds instructions times ranges of Go's one-pass form: it is fast, but each
// branch may hold the ranges of all that can follow it.
const maxOnepass = 4 << 10

// goSize counts the instructions of Go's program and the ranges of characters in them, without
// compiling it. Repetitions count as often as they are written out. Each may be a little more
// than what Go needs after it simplified the pattern.
func goSize(re *syntax.Regexp) (insts, ranges int) {
	for _, sub := range re.Sub {
		i, r := goSize(sub)
		insts, ranges = insts+i, ranges+r
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass:
		return 1, len(re.Rune) / 2
	case syntax.OpCapture, syntax.OpStar:
		return insts + 2, ranges
	case syntax.OpPlus, syntax.OpQuest:
		return insts + 1, ranges
	case syntax.OpAlternate:
		return insts + len(re.Sub) - 1, ranges
	case syntax.OpRepeat:
		times := max(re.Min, re.Max, 1)
		return insts*times + max(re.Max-re.Min, 2), ranges * times
	case syntax.OpConcat:
		return max(insts, 1), ranges
	}
	return 1, 1
}

// goWeight is what the program of a text for Go takes, with its number of instructions.
// Onepass says that it may have the one-pass form.
func goWeight(text string, re *syntax.Regexp) (weight, insts int, onepass bool) {
	insts, ranges := goSize(re)
	insts += 2 // one that fails, and the match
	weight = patternBytes + textBytes*len(text) + nodeBytes*leaves(re)
	if insts*ranges > maxOnepass {
		return weight + linearBytes*insts, insts, false
	}
	return weight + onepassBytes*insts + mergedBytes*insts*ranges, insts, true
}

// leaves counts the nodes that hold characters.
func leaves(re *syntax.Regexp) int {
	if len(re.Sub) == 0 {
		return 1
	}
	n := 0
	for _, sub := range re.Sub {
		n += leaves(sub)
	}
	return n
}

// treeWeight is what the program for the backtracking matcher takes.
func treeWeight(tree *node, insts int) int {
	return patternBytes + instBytes*insts + nodesWeight(tree)
}

func nodesWeight(n *node) int {
	weight := nodeBytes + rangeBytes*len(n.set)
	for _, k := range n.kids {
		weight += nodesWeight(k)
	}
	return weight
}
