package graph

// breakCycles turns the links around that close a cycle, as a walk from the
// start, first way first, meets them: what the author wrote as going back.
func (s *sketch) breakCycles() {
	out := make([][]int, len(s.verts))
	incoming := make([]int, len(s.verts))
	for i, l := range s.links {
		out[l.from] = append(out[l.from], i)
		incoming[l.to]++
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(s.verts))
	type visit struct{ vertex, next int }
	var way []visit
	walk := func(root int) {
		way = append(way[:0], visit{vertex: root})
		state[root] = open
		for len(way) > 0 {
			s.work(1)
			top := &way[len(way)-1]
			if top.next == len(out[top.vertex]) {
				state[top.vertex] = done
				way = way[:len(way)-1]
				continue
			}
			l := &s.links[out[top.vertex][top.next]]
			top.next++
			switch state[l.to] {
			case open:
				l.back = true
			case unseen:
				state[l.to] = open
				way = append(way, visit{vertex: l.to})
			}
		}
	}
	// First the start, then what nothing leads to, then what only cycles reach.
	for pass := range 3 {
		for v := range s.verts {
			isStart := s.verts[v].kind == markVertex && s.marks[s.verts[v].of].Kind == MarkStart
			if state[v] == unseen && (pass == 2 || pass == 1 && incoming[v] == 0 || isStart) {
				walk(v)
			}
		}
	}
	for i := range s.links {
		if l := &s.links[i]; l.back {
			l.from, l.to = l.to, l.from
		}
	}
}
