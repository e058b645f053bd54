package expr

// Measure estimates the length of v as text. It stops early if that exceeds maxBytes (large) or
// v nests deeper than maxDepth (deep): values share their parts, so one that is small in memory
// may be huge as text.
func Measure(v Value, maxBytes, maxDepth int) (bytes int, deep, large bool) {
	m := measure{left: maxBytes}
	m.walk(v, maxDepth)
	return maxBytes - m.left, m.deep, m.left < 0
}

type measure struct {
	left int
	deep bool
}

func (m *measure) walk(v Value, depth int) {
	if depth < 0 {
		m.deep = true
	}
	if m.deep || m.left < 0 {
		return
	}
	m.left -= 4
	switch v.ref.(type) {
	case stringRef, decimalRef:
		m.left -= int(v.num)
	case arrayRef:
		for _, it := range v.Items() {
			if m.walk(it, depth-1); m.deep || m.left < 0 {
				return
			}
		}
	case objectRef:
		for _, mem := range v.Members() {
			m.left -= len(mem.Key)
			if m.walk(mem.Value, depth-1); m.deep || m.left < 0 {
				return
			}
		}
	}
}
