package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Store names the store.
func (c *Case) Store() string {
	if c.SQLite {
		return "sqlite"
	}
	return "model"
}

// String writes a case for people.
func (c *Case) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes on %s, order by seed %d\n", c.Nodes, c.Store(), c.Seed)
	if c.Oracle != nil {
		b.WriteString(c.Oracle.String())
	}
	for i := range c.Acts {
		fmt.Fprintf(&b, "%s\n", c.Acts[i].String())
	}
	if c.Retain > 0 {
		fmt.Fprintf(&b, "what is over goes after %s\n", c.Retain)
	}
	if c.Forget > 0 {
		fmt.Fprintf(&b, "the feed forgets after %s\n", c.Forget)
	}
	if c.Sweep > 0 {
		fmt.Fprintf(&b, "jobs go after %s\n", c.Sweep)
	}
	if c.Join > 0 {
		fmt.Fprintf(&b, "the last node comes up at %s\n", c.Join)
	}
	for _, f := range c.Faults {
		if slices.Contains(outside, f.Kind) {
			fmt.Fprintf(&b, "%s at the %d. of those that come, for %s\n", f.Kind, f.Op, f.For)
			continue
		}
		fmt.Fprintf(&b, "%s of node %d at its %d. request to the store %s, for %s\n", f.Kind, f.Node, f.Op, f.On, f.For)
	}
	return b.String()
}

// String writes an act on one line.
func (a *Act) String() string {
	s := fmt.Sprintf("at %s, node %d: %s %s", a.At, a.Node, a.Kind, a.What)
	switch a.Kind {
	case ActEvent:
		s += string(a.Event.Value().AppendJSON(nil))
	case ActStart:
		s += " " + a.Choice + " " + string(a.Input.AppendJSON(nil))
	case ActControl:
		if s += " " + string(a.Verb) + " " + string(a.Input.AppendJSON(nil)); a.Since {
			s += " unless it changes"
		}
	case ActDrop:
		if s += a.Actor; a.Since {
			s += " unless it changes"
		}
	case ActUpdate:
		if s += " " + a.Actor + " " + a.Choice; a.Update != nil {
			s += a.Update.String()
		}
		if a.Since {
			s += " unless it changes"
		}
	}
	return s
}
