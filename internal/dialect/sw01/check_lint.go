package sw01

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// lint warns of what is allowed but does not do what it seems to.
func (c *checker) lint(s *state) {
	switch b := s.body.(type) {
	case *eventState:
		c.repeatedEvents(b)
		for _, e := range b.entries {
			if s.end != nil && e.next != nil {
				c.r.Warnf(e.next.node.KeySpan(), codeTwoExits, "%s has end: true: the workflow ends there, whatever %s says", s.title(), e.next.node.Name())
			}
		}
	case *switchState:
		c.choices(s, b)
	}
}

// choices warns of choices that are never taken.
func (c *checker) choices(s *state, b *switchState) {
	seen := map[string]int{}
	for _, one := range b.choices {
		if one.when == nil {
			continue
		}
		src := choice.Source(one.when.tree())
		line := one.node.Pos().Line
		if first, ok := seen[src]; ok {
			c.r.Warnf(one.node, codeSameMatch, "the choice at line %d has the same condition; this one is never taken", first)
		} else {
			seen[src] = line
		}
		c.literals(one.when)
	}
	if s.end != nil && b.otherwise != nil {
		c.r.Warnf(s.end.KeySpan(), codeIgnored, "%s is a SWITCH with a default: end: true has no effect", s.title())
	}
}

// literals warns of values with which a comparison never holds.
func (c *checker) literals(k *condition) {
	for _, item := range k.items {
		c.literals(item)
	}
	if k.value == nil {
		return
	}
	word := strings.ToLower(strings.TrimSpace(k.value.Literal()))
	switch k.op {
	case choice.Less, choice.LessOrEqual, choice.Greater, choice.GreaterOrEqual:
		if k.value.Kind == expr.KindBool {
			c.r.Warnf(k.value, codeLiteral, "%s has no order: the comparison never holds", word)
		}
	case choice.Exists:
		if word != "true" && word != "false" {
			c.r.Warnf(k.value, codeLiteral, "Exists takes true or false; %s counts as true", k.value.Quoted())
		}
	}
}

// retries finds those of an action that are never used: an earlier one takes all that
// they are for. A text may also be a result, which the SYS names never are.
func (c *checker) retries(a *action) {
	var all *retry
	seen := map[string]*retry{}
	for _, r := range a.retries {
		name := r.match.Literal()
		if len(name) >= 4 && strings.EqualFold(name[:4], "SYS.") && !isCategory(name) {
			d := c.r.Warnf(r.match, codeNoCategory, "%q is not a SYS name: it matches only an error or a result of exactly that name", name)
			c.MeantOneOf(d, name, []string{SysTimeout, SysFail, SysMatchAny, SysPermission, SysInvalidParameter, SysFilterError})
		}
		first := seen[name]
		if first == nil && all != nil && isCategory(name) {
			first = all
		}
		if first != nil {
			r.unused = true
			c.r.Warnf(r.match, codeSameMatch, "the retry at line %d takes %s already; this one is never used", first.node.Pos().Line, name)
			continue
		}
		seen[name] = r
		if isAny(name) {
			all = r
		}
	}
}

func isAny(match string) bool { return match == SysMatchAny || match == "*" }

// isCategory reports whether a retry is for a kind of errors, not for one error or result.
func isCategory(match string) bool {
	switch match {
	case SysTimeout, SysFail, SysPermission, SysInvalidParameter, SysFilterError:
		return true
	}
	return isAny(match)
}
