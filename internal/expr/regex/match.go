package regex

import (
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// opcode is an instruction of the backtracking matcher.
type opcode uint8

const (
	doSet     opcode = iota // read one character of set; it costs y more instructions
	doSplit                 // try x, later y
	doJump                  // go to x
	doStore                 // reg[x] = position
	doLoop                  // go to x if the position moved on since reg[y]
	doPlace                 // assert the node's place
	doBackref               // read again what node.index captured
	doLook                  // run what follows as a separate match; go to x
	doAtomic                // run what follows as a separate match, and go on at x where it ended
	doBack                  // the position must be reg[x]: the end of a look-behind
	doAccept
)

type inst struct {
	op   opcode
	x, y int
	node *node
}

// program is a regular expression for the backtracking matcher.
type program struct {
	insts []inst
	regs  int // 2 for every group, and those of loops
}

func compileTree(tree *node, groups int) *program {
	c := &compiler{regs: 2 * (groups + 1)}
	c.node(tree)
	c.emit(inst{op: doPlace, node: &node{kind: kindPlace, place: atEnd}})
	c.emit(inst{op: doAccept})
	return &program{slices.Clone(c.insts), c.regs}
}

// progSize is the number of instructions of a node, or more than the limit.
func progSize(n *node) int {
	size := 0
	for _, k := range n.kids {
		size = min(size+progSize(k)+2, maxProgram+1)
	}
	if n.kind == kindRepeat {
		size = (size + 4) * max(n.min+1, n.max)
	}
	return min(size+4, maxProgram+1)
}

// instCount is the number of instructions that compileTree emits for a node.
func instCount(n *node) int {
	kids := 0
	for _, k := range n.kids {
		kids += instCount(k)
	}
	switch n.kind {
	case kindConcat:
		return kids
	case kindAlt:
		return kids + 2*(len(n.kids)-1)
	case kindRepeat:
		count := n.min * kids
		if n.max < 0 {
			count += kids + 3
		}
		count += max(n.max-n.min, 0) * (kids + 1)
		if n.mode == possessive {
			count += 2
		}
		return count
	case kindGroup, kindAtomic:
		return kids + 2
	case kindLook:
		if n.behind {
			kids++
		}
		return kids + 2
	}
	return 1
}

type compiler struct {
	insts []inst
	regs  int
}

func (c *compiler) emit(i inst) int {
	c.insts = append(c.insts, i)
	return len(c.insts) - 1
}

func (c *compiler) reg() int {
	c.regs++
	return c.regs - 1
}

func (c *compiler) node(n *node) {
	switch n.kind {
	case kindSet:
		c.emit(inst{op: doSet, node: n, y: bits.Len(uint(len(n.set))) / 2})
	case kindConcat:
		for _, k := range n.kids {
			c.node(k)
		}
	case kindAlt:
		c.alternatives(n.kids)
	case kindRepeat:
		if n.mode == possessive {
			c.separate(inst{op: doAtomic, node: n}, func() { c.repeat(n) })
			return
		}
		c.repeat(n)
	case kindGroup:
		c.emit(inst{op: doStore, x: 2 * n.index})
		c.node(n.kids[0])
		c.emit(inst{op: doStore, x: 2*n.index + 1})
	case kindAtomic:
		c.separate(inst{op: doAtomic, node: n}, func() { c.node(n.kids[0]) })
	case kindLook:
		end := c.reg()
		c.separate(inst{op: doLook, node: n, y: end}, func() {
			c.node(n.kids[0])
			if n.behind {
				c.emit(inst{op: doBack, x: end})
			}
		})
	case kindBackref:
		c.emit(inst{op: doBackref, node: n})
	case kindPlace:
		c.emit(inst{op: doPlace, node: n})
	}
}

// separate emits a body that is run as a separate match.
func (c *compiler) separate(head inst, body func()) {
	at := c.emit(head)
	body()
	c.emit(inst{op: doAccept})
	c.insts[at].x = len(c.insts)
}

func (c *compiler) alternatives(kids []*node) {
	var ends []int
	for i, k := range kids {
		if i == len(kids)-1 {
			c.node(k)
			break
		}
		split := c.emit(inst{op: doSplit})
		c.insts[split].x = len(c.insts)
		c.node(k)
		ends = append(ends, c.emit(inst{op: doJump}))
		c.insts[split].y = len(c.insts)
	}
	for _, e := range ends {
		c.insts[e].x = len(c.insts)
	}
}

func (c *compiler) repeat(n *node) {
	body := n.kids[0]
	for range n.min {
		c.node(body)
	}
	var splits []int
	if n.max < 0 {
		start := c.emit(inst{op: doSplit})
		reg := c.reg()
		c.emit(inst{op: doStore, x: reg})
		c.node(body)
		c.emit(inst{op: doLoop, x: start, y: reg})
		splits = []int{start}
	}
	for range n.max - n.min {
		splits = append(splits, c.emit(inst{op: doSplit}))
		c.node(body)
	}
	for _, s := range splits {
		c.insts[s].x, c.insts[s].y = s+1, len(c.insts)
		if n.mode == lazy {
			c.insts[s].x, c.insts[s].y = c.insts[s].y, c.insts[s].x
		}
	}
}

// frame is a backtracking point: an instruction to try (at >= 0), or a register to restore
// (at = ^register).
type frame struct{ at, pos int }

type matcher struct {
	*program
	text   string
	regs   []int
	stack  []frame
	budget *expr.Budget
	ticks  int
}

// ticksPerStep is how many instructions one step of the budget pays for. Whatever makes the
// stack grow costs a whole step, which bounds the memory. The others are the cost of
// assertions, of each start of a look-around, and of comparing letters without case.
const (
	ticksPerStep = 8
	placeTicks   = 3
	lookTicks    = 8
	foldTicks    = 24
)

// tick pays for instructions.
func (m *matcher) tick(n int) error {
	m.ticks += n
	if m.ticks < ticksPerStep {
		return nil
	}
	steps := m.ticks / ticksPerStep
	m.ticks %= ticksPerStep
	return m.budget.Step(steps)
}

func (p *program) match(text string, b *expr.Budget) (bool, error) {
	if err := b.Step(1 + p.regs/ticksPerStep); err != nil {
		return false, err
	}
	m := matcher{program: p, text: text, regs: make([]int, p.regs), budget: b}
	for i := range m.regs {
		m.regs[i] = -1
	}
	_, ok, err := m.run(0, 0)
	return ok, err
}

// run matches from instruction at to doAccept and returns where it ended. It leaves its
// backtracking points on the stack, above those that were there before.
func (m *matcher) run(at, pos int) (int, bool, error) {
	base := len(m.stack)
	for {
		m.ticks++
		if m.ticks >= ticksPerStep {
			if err := m.tick(0); err != nil {
				return 0, false, err
			}
		}
		in := &m.insts[at]
		ok := true
		var err error
		at++
		switch in.op {
		case doAccept:
			return pos, true, nil
		case doSet:
			r, size := utf8.DecodeRuneInString(m.text[pos:])
			m.ticks += in.y
			ok = size > 0 && in.node.set.has(r)
			pos += size
		case doSplit:
			at = in.x
			err = m.push(frame{in.y, pos})
		case doJump:
			at = in.x
		case doStore:
			err = m.store(in.x, pos)
		case doLoop:
			if pos != m.regs[in.y] {
				at = in.x
			}
		case doPlace:
			m.ticks += placeTicks
			ok = m.holds(in.node, pos)
		case doBackref:
			pos, ok, err = m.backref(in.node, pos)
		case doLook:
			ok, err = m.look(in, at, pos)
			at = in.x
		case doAtomic:
			kept := len(m.stack)
			pos, ok, err = m.run(at, pos)
			m.keep(kept)
			at = in.x
		case doBack:
			ok = pos == m.regs[in.x]
		}
		if err != nil {
			return 0, false, err
		}
		if !ok {
			if at, pos, ok = m.back(base); !ok {
				return 0, false, nil
			}
		}
	}
}

func (m *matcher) push(f frame) error {
	m.stack = append(m.stack, f)
	return m.budget.Step(1)
}

func (m *matcher) store(reg, pos int) error {
	old := m.regs[reg]
	m.regs[reg] = pos
	return m.push(frame{^reg, old})
}

// back undoes the latest steps up to one that has an alternative.
func (m *matcher) back(base int) (at, pos int, ok bool) {
	for len(m.stack) > base {
		f := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if f.at >= 0 {
			return f.at, f.pos, true
		}
		m.regs[^f.at] = f.pos
	}
	return 0, 0, false
}

// keep drops the alternatives above base, and keeps what restores registers.
func (m *matcher) keep(base int) {
	kept := m.stack[:base]
	for _, f := range m.stack[base:] {
		if f.at < 0 {
			kept = append(kept, f)
		}
	}
	m.stack = kept
}

// look runs the part of a look-around that starts at instruction at.
func (m *matcher) look(in *inst, at, pos int) (bool, error) {
	base := len(m.stack)
	found := false
	for start := pos; !found; {
		m.regs[in.y] = pos
		err := m.tick(lookTicks)
		if err != nil {
			return false, err
		}
		if _, found, err = m.run(at, start); err != nil {
			return false, err
		}
		if !in.node.behind || start == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(m.text[:start])
		start -= size
	}
	m.keep(base) // what a failing look stored is undone with the rest
	return found != in.node.negate, nil
}

// backref matches the text that a group captured; it fails if the group captured nothing.
func (m *matcher) backref(n *node, pos int) (int, bool, error) {
	from, to := m.regs[2*n.index], m.regs[2*n.index+1]
	if from < 0 || to < from {
		return pos, false, nil
	}
	for from < to {
		if err := m.tick(2); err != nil {
			return pos, false, err
		}
		a, size := utf8.DecodeRuneInString(m.text[from:to])
		b, bsize := utf8.DecodeRuneInString(m.text[pos:])
		if a != b {
			if err := m.tick(foldTicks); err != nil {
				return pos, false, err
			}
		}
		if bsize == 0 || a != b && !single(a).fold(n.flags).has(b) {
			return pos, false, nil
		}
		from, pos = from+size, pos+bsize
	}
	return pos, true, nil
}

// holds reports whether an assertion holds at a position.
func (m *matcher) holds(n *node, pos int) bool {
	end := len(m.text)
	switch n.place {
	case atStart:
		return pos == 0
	case atEnd:
		return pos == end
	case atLastLine:
		return pos == end || m.lineEnd(n, pos) == end-pos
	case atLineStart:
		return pos == 0 || pos < end && m.afterLine(n, pos)
	case atLineEnd:
		return pos == end || m.lineEnd(n, pos) > 0
	}
	return (m.word(n, pos, false) != m.word(n, pos, true)) == (n.place == atWord)
}

// lineEnd is the length of the line end that starts at pos. None starts between \r and \n.
func (m *matcher) lineEnd(n *node, pos int) int {
	r, size := utf8.DecodeRuneInString(m.text[pos:])
	switch {
	case size == 0:
		return 0
	case n.flags&UnixLines != 0:
		if r == '\n' {
			return 1
		}
		return 0
	case r == '\n' && pos > 0 && m.text[pos-1] == '\r':
		return 0
	case r == '\r' && pos+1 < len(m.text) && m.text[pos+1] == '\n':
		return 2
	case lineEnds.has(r):
		return size
	}
	return 0
}

// afterLine reports whether there is a line end just before pos.
func (m *matcher) afterLine(n *node, pos int) bool {
	r, _ := utf8.DecodeLastRuneInString(m.text[:pos])
	if n.flags&UnixLines != 0 {
		return r == '\n'
	}
	return lineEnds.has(r) && (r != '\r' || m.text[pos] != '\n')
}

// word reports whether the character at pos, or before it, is part of a word.
func (m *matcher) word(n *node, pos int, before bool) bool {
	r, size := utf8.DecodeRuneInString(m.text[pos:])
	if before {
		r, size = utf8.DecodeLastRuneInString(m.text[:pos])
	}
	if size == 0 {
		return false
	}
	if n.flags&Unicode != 0 {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return wordSet.has(r)
}
