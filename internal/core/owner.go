package core

import "github.com/lockstep-workflows/lockstep/internal/ir"

// owners names the state that each node works for: actions and branches have names of
// their own, which mean little to someone reading a fault. A state is what can be reached
// from its entry without entering another.
func owners(p *ir.Program) []string {
	states := make(map[string]bool, len(p.States))
	for _, s := range p.States {
		states[s.Name] = true
	}
	out := make([]string, len(p.Nodes))
	var todo []ir.NodeID
	for id, n := range p.Nodes {
		if n.Mark != ir.MarkEntered || !states[n.Name] {
			continue
		}
		out[id] = n.Name
		todo = append(todo[:0], ir.NodeID(id))
		for len(todo) > 0 {
			at := &p.Nodes[todo[len(todo)-1]]
			todo = todo[:len(todo)-1]
			for _, next := range successors(p, at) {
				if next != 0 && out[next] == "" && p.Nodes[next].Mark != ir.MarkEntered {
					out[next] = n.Name
					todo = append(todo, next)
				}
			}
		}
	}
	return out
}

// successors are the nodes that may come after one, or run inside of it.
func successors(p *ir.Program, n *ir.Node) []ir.NodeID {
	out := []ir.NodeID{n.Next, n.Out}
	region := func(id ir.RegionID) {
		out = append(out, p.Regions[id].Entry)
		for _, c := range p.Regions[id].Catch {
			out = append(out, c.Next)
		}
	}
	switch op := n.Op.(type) {
	case *ir.Branch:
		for _, c := range op.Cases {
			out = append(out, c.Next)
		}
	case *ir.Await:
		out = append(out, op.OnTimeout)
		for _, a := range op.Arms {
			out = append(out, a.Next)
		}
	case *ir.Fan:
		for _, b := range op.Branches {
			region(b.Region)
		}
		if op.Each != nil {
			region(op.Each.Body)
		}
		if op.Feed != nil && op.Feed.Body != 0 {
			region(op.Feed.Body)
		}
	case *ir.Enter:
		region(op.Region)
	}
	return out
}
