package ir

// Builder adds to the tables of a program. The compiler of a front-end embeds one.
//
// A program is built backwards. A node names the one that follows it, so what follows is
// added first: the end of a state, then what comes before it, then its entry.
//
//	next := c.Leave(at, &ir.Eval{}, c.Node(at, &ir.End{}, 0))
//	next = c.Node(at, &ir.Call{Function: f}, next)
//	c.Fill(entry, &ir.Eval{}, next)
//
// States refer to one another in cycles. Their entries are reserved before any state is
// compiled, and filled once the rest of the state is there.
type Builder struct {
	Program *Program

	spend func(units int)
	exprs map[exprKey]ExprID
}

// exprKey identifies an expression. The same text at two positions is two expressions, so
// that a fault names the right position; shared ones have none.
type exprKey struct {
	lang, src string
	pos       Pos
}

// Place names a node for people.
type Place struct {
	Name string // of the state, action or branch
	Pos  Pos
}

// NewBuilder returns a builder that fills the tables of p. It reports its work to spend, if not
// nil: one unit for each node and expression, and one more for every 16 bytes of an expression.
func NewBuilder(p Program, spend func(units int)) *Builder {
	p.Edition = Edition
	p.Nodes = make([]Node, 1)
	p.Exprs = make([]Expr, 1)
	p.Regions = make([]Region, 1)
	if spend == nil {
		spend = func(int) {}
	}
	return &Builder{Program: &p, spend: spend, exprs: map[exprKey]ExprID{}}
}

// Node adds a node that goes on at next; 0 returns from the region.
func (b *Builder) Node(at Place, op Op, next NodeID) NodeID {
	return b.add(Node{Name: at.Name, Pos: at.Pos, Op: op, Next: next})
}

// Leave adds a node that completes the state of its name.
func (b *Builder) Leave(at Place, op Op, next NodeID) NodeID {
	return b.add(Node{Name: at.Name, Pos: at.Pos, Op: op, Next: next, Mark: MarkLeft})
}

// Out adds a node that completes its region; the frame around it goes on at to.
func (b *Builder) Out(at Place, op Op, to NodeID) NodeID {
	return b.add(Node{Name: at.Name, Pos: at.Pos, Op: op, Out: to})
}

func (b *Builder) add(n Node) NodeID {
	b.spend(1)
	b.Program.Nodes = append(b.Program.Nodes, n)
	return NodeID(len(b.Program.Nodes) - 1)
}

// Reserve adds the entry of a state, which is filled later.
func (b *Builder) Reserve(at Place) NodeID {
	return b.add(Node{Name: at.Name, Pos: at.Pos, Op: &Eval{}, Mark: MarkEntered})
}

// Fill gives a reserved entry its operation, and says where it goes on.
func (b *Builder) Fill(entry NodeID, op Op, next NodeID) {
	n := &b.Program.Nodes[entry]
	n.Op, n.Next = op, next
}

// Region adds a region.
func (b *Builder) Region(r Region) RegionID {
	b.Program.Regions = append(b.Program.Regions, r)
	return RegionID(len(b.Program.Regions) - 1)
}

// Enter adds a region and a node that runs it.
func (b *Builder) Enter(at Place, r Region, next NodeID) NodeID {
	return b.Node(at, &Enter{Region: b.Region(r)}, next)
}

// Begin makes the program begin at a node.
func (b *Builder) Begin(entry NodeID) {
	b.Program.Regions[0] = Region{Name: b.Program.ID, Entry: entry}
}

// Branch adds a region as a branch of a Fan.
func (b *Builder) Branch(r Region) FanBranch { return FanBranch{Region: b.Region(r)} }

// Expr adds an expression, once for each place.
func (b *Builder) Expr(lang, src string, pos Pos) ExprID {
	return b.expr(exprKey{lang, src, pos}, pos)
}

// SharedExpr adds an expression once for all its uses, because schemas may be large. Its
// position is that of the first use.
func (b *Builder) SharedExpr(lang, src string, pos Pos) ExprID {
	return b.expr(exprKey{lang: lang, src: src}, pos)
}

func (b *Builder) expr(key exprKey, pos Pos) ExprID {
	b.spend(1 + len(key.src)/16)
	if id, ok := b.exprs[key]; ok {
		return id
	}
	b.Program.Exprs = append(b.Program.Exprs, Expr{Lang: key.lang, Src: key.src, Pos: pos})
	id := ExprID(len(b.Program.Exprs) - 1)
	b.exprs[key] = id
	return id
}

// Function adds a function.
func (b *Builder) Function(f Function) FunctionID {
	b.Program.Functions = append(b.Program.Functions, f)
	return FunctionID(len(b.Program.Functions) - 1)
}

// Event adds an event.
func (b *Builder) Event(e Event) EventID {
	b.Program.Events = append(b.Program.Events, e)
	return EventID(len(b.Program.Events) - 1)
}
