package sim

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// String writes a case for people: the definitions, what goes in, how the world answers.
func (c *Case) String() string {
	var b strings.Builder
	said := ""
	if c.Detect {
		said = ", which nobody says"
	}
	fmt.Fprintf(&b, "definition in %s%s:\n%s\n", c.Dialect, said, scenario.Pretty(c.Def))
	for _, d := range c.Subs {
		fmt.Fprintf(&b, "definition:\n%s\n", scenario.Pretty(d))
	}
	if c.ByHand {
		fmt.Fprintf(&b, "input: %s\n", canonical(c.Input))
	}
	for _, m := range c.Mocks {
		fmt.Fprintf(&b, "mock %s:\n", m.Function)
		for _, a := range m.Answers {
			fmt.Fprintf(&b, "- %s\n", a)
		}
	}
	for _, e := range c.Events {
		fmt.Fprintf(&b, "event at %s: %s\n", at(e.At), canonical(e.Event))
	}
	for _, u := range c.Updates {
		fmt.Fprintf(&b, "update at %s: %s\n", at(u.At), &u)
	}
	return b.String()
}

// String writes an update, and when it may be taken at all.
func (u *Update) String() string {
	s := fmt.Sprintf("%s %s %s", u.Kind, u.Actor, canonical(u.Value))
	if u.Client != "" {
		s += " as " + u.Client
	}
	if u.Rev != RevAny {
		s += " at revision " + string(u.Rev)
	}
	return s
}

// String writes an answer as a scenario file does.
func (a Answer) String() string {
	what := "{}"
	switch {
	case a.Error != nil:
		what = fmt.Sprintf("error %+v", *a.Error)
	case a.Echo:
		what = "echo"
	case a.HasResult:
		what = "result " + canonical(a.Result)
	}
	return fmt.Sprintf("%s after %s", what, at(a.Delay))
}
