package graph

import "math"

// push moves what blocks the way together with what wants to move, where all of
// it gains more than it loses. It reports whether anything moved.
func (s *sketch) push(groups [][]int) bool {
	of := make([]int, len(s.verts))
	for g, members := range groups {
		for _, v := range members {
			of[v] = g
		}
	}
	p := pushing{sketch: s, groups: groups, of: of, in: make([]int, len(groups))}
	moved := false
	for g := range groups {
		for _, dir := range []float64{1, -1} {
			for s.settled < settleSteps && p.from(g, dir) {
				moved = true
			}
			if s.settled >= settleSteps {
				return moved
			}
		}
	}
	return moved
}

type pushing struct {
	*sketch
	groups [][]int
	of     []int
	in     []int // the round in which a group was last among those that move
	round  int
}

// from moves a group and everything it stands against in a direction, as far as
// the gain stays the same. It reports whether it did.
func (p *pushing) from(group int, dir float64) bool {
	p.round++
	p.in[group] = p.round
	moving := []int{group}
	for at := 0; at < len(moving); at++ {
		for _, v := range p.groups[moving[at]] {
			p.settled++
			u, room := p.neighbour(v, dir)
			if u >= 0 && room < 1 && p.in[p.of[u]] != p.round {
				p.in[p.of[u]] = p.round
				moving = append(moving, p.of[u])
			}
		}
	}
	gain, slack, reach := 0.0, math.Inf(1), math.Inf(1)
	for _, g := range moving {
		for _, v := range p.groups[g] {
			if u, room := p.neighbour(v, dir); u >= 0 && p.in[p.of[u]] != p.round {
				slack = min(slack, room)
			}
			for _, arcs := range [2][]arc{p.up[v], p.down[v]} {
				p.settled += len(arcs)
				for _, a := range arcs {
					if p.in[p.of[a.to]] == p.round {
						continue
					}
					if away := (p.verts[a.to].x + a.far - p.verts[v].x - a.own) * dir; away >= 1 {
						gain += a.weight()
						reach = min(reach, away)
					} else {
						gain -= a.weight()
					}
				}
			}
		}
	}
	way := math.Floor(min(slack, reach))
	if gain <= 0 || way < 1 || math.IsInf(way, 1) {
		return false
	}
	for _, g := range moving {
		for _, v := range p.groups[g] {
			p.verts[v].x += way * dir
		}
	}
	return true
}

// neighbour is what stands beside a vertex, and how much room is between.
func (p *pushing) neighbour(v int, dir float64) (int, float64) {
	row, pos := p.ranks[p.verts[v].rank], p.verts[v].pos
	if dir > 0 {
		if pos+1 == len(row) {
			return -1, 0
		}
		u := row[pos+1]
		return u, p.verts[u].x - p.verts[v].x - p.apart(v, u)
	}
	if pos == 0 {
		return -1, 0
	}
	u := row[pos-1]
	return u, p.verts[v].x - p.verts[u].x - p.apart(u, v)
}
