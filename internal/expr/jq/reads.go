package jq

import (
	"slices"

	"github.com/itchyny/gojq"
)

// Reads lists the paths of names that an expression plainly reads of its data: .a.b alone, in the values of an object,
// in a list or a text, or on the left of a pipe. What it does not mind to be missing (.a?, .a // 1) is left out, and all
// that it computes.
func Reads(src string) (out [][]string) {
	q, err := parse(src)
	if err != nil || look(q).nesting > MaxNesting {
		return nil
	}
	readsOf(q, func(path []string) {
		if !slices.ContainsFunc(out, func(known []string) bool { return slices.Equal(known, path) }) {
			out = append(out, path)
		}
	})
	return out
}

func readsOf(q *gojq.Query, add func(path []string)) {
	if q == nil || len(q.FuncDefs)+len(q.Patterns) > 0 {
		return
	}
	switch {
	case q.Term != nil:
		readsOfTerm(q.Term, add)
	case q.Op == gojq.OpPipe:
		readsOf(q.Left, add)
	case q.Op == gojq.OpComma, q.Op == gojq.OpAdd, q.Op == gojq.OpSub, q.Op == gojq.OpMul, q.Op == gojq.OpDiv, q.Op == gojq.OpMod:
		readsOf(q.Left, add)
		readsOf(q.Right, add)
	}
}

func readsOfTerm(t *gojq.Term, add func(path []string)) {
	if slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return s.Optional }) {
		return
	}
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeIndex:
		if path := plainPath(t); len(path) > 0 {
			add(path)
		}
	case gojq.TermTypeObject:
		for _, m := range t.Object.KeyVals {
			switch {
			case m.Val != nil:
				readsOf(m.Val, add)
			case m.Key != "" && m.Key[0] != '$': // {a} is {a: .a}
				add([]string{m.Key})
			}
		}
	case gojq.TermTypeArray:
		readsOf(t.Array.Query, add)
	case gojq.TermTypeString:
		for _, q := range t.Str.Queries {
			readsOf(q, add)
		}
	case gojq.TermTypeQuery:
		readsOf(t.Query, add)
	case gojq.TermTypeUnary:
		readsOfTerm(t.Unary.Term, add)
	}
}

// plainPath are the names that a path begins with.
func plainPath(t *gojq.Term) (path []string) {
	all := t.SuffixList
	if t.Type == gojq.TermTypeIndex {
		all = slices.Concat([]*gojq.Suffix{{Index: t.Index}}, all)
	}
	for _, s := range all {
		if s.Index == nil || s.Index.Name == "" {
			break
		}
		path = append(path, s.Index.Name)
	}
	return path
}
