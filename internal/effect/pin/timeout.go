package pin

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// checkTimeouts warns of timeouts that are longer than the calls in them may take: those end earlier.
func (f *Finder) checkTimeouts() {
	if f.def.MaxTimeout == 0 || f.def.Program == nil {
		return
	}
	seen := make([]bool, len(f.def.Program.Nodes))
	for i, r := range f.def.Program.Regions {
		if i == 0 || strings.HasPrefix(r.Ref, "/timeouts/") { // it is the workflow's own
			continue
		}
		if stated, ok := constant(r); ok && stated > f.def.MaxTimeout {
			f.lateCalls(r.Entry, stated, seen)
		}
	}
}

// Stream notes that calls of a function are answered with a stream, which has limits of its own.
func (f *Finder) Stream(fn Function) {
	if f.stream == nil {
		f.stream = map[string]bool{}
	}
	f.stream[fn.Name] = true
}

// constant is the time of a region, where that is known.
func constant(r ir.Region) (time.Duration, bool) {
	s := r.Timeout
	if !s.Set {
		s = r.Total
	}
	const longest = 100 * 365 // days
	if !s.Set || s.Expr != 0 || s.Until != "" || s.Since != 0 || s.Months > 12*100 || s.Days > longest {
		return 0, false
	}
	return time.Duration(s.Months*30+s.Days)*24*time.Hour + time.Duration(s.Nanos), true
}

// lateCalls warns of the calls from a node on that have no nearer timeout.
func (f *Finder) lateCalls(from ir.NodeID, stated time.Duration, seen []bool) {
	p := f.def.Program
	for list := []ir.NodeID{from}; len(list) > 0; {
		id := list[len(list)-1]
		list = list[:len(list)-1]
		if id == 0 || seen[id] {
			continue
		}
		seen[id] = true
		n := &p.Nodes[id]
		list = append(list, n.Next)
		enter := func(region ir.RegionID) {
			if r := p.Regions[region]; !r.Timeout.Set && !r.Total.Set {
				list = append(list, r.Entry)
			}
		}
		switch op := n.Op.(type) {
		case *ir.Call:
			f.lateCall(n, op, stated)
		case *ir.Branch:
			for _, c := range op.Cases {
				list = append(list, c.Next)
			}
		case *ir.Await:
			list = append(list, op.OnTimeout)
			for _, arm := range op.Arms {
				list = append(list, arm.Next)
			}
		case *ir.Enter:
			enter(op.Region)
		case *ir.Fan:
			for _, b := range op.Branches {
				enter(b.Region)
			}
			if op.Each != nil {
				enter(op.Each.Body)
			}
		}
	}
}

// timed are the kinds of built-in calls that end after call-timeout-max at the latest.
var timed = []string{"grpc", "a2a", ir.RequestKind}

func (f *Finder) lateCall(n *ir.Node, op *ir.Call, stated time.Duration) {
	fn := f.def.Program.Functions[op.Function]
	if f.stream[fn.Name] {
		return
	}
	if o := route.Parse(fn.Operation); o.Kind != route.PlainURL && o.Kind != route.Document && !(o.Kind == route.Other && slices.Contains(timed, o.ID)) {
		return
	}
	at := f.locate(n.Pos)
	place := dialect.Place(at.pos)
	for _, key := range []string{"timeout", "timeouts"} {
		if at.node.Get(key) != nil {
			place = at.node.Get(key).KeySpan()
		}
	}
	f.Warnf(place, CodeTimeout, "function %q: the timeout is %s, but a call takes %s at most (limit call-timeout-max)", fn.Name, calendar.DurationOf(stated), calendar.DurationOf(f.def.MaxTimeout)).
		WithHint("a server with a longer --call-timeout-max waits for it; \"lockstep validate\" takes the same flag")
}
