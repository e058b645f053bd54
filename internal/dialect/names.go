package dialect

import "fmt"

// Names finds the definitions of one kind by name, and reports names that repeat.
type Names[T any] struct {
	What string // in messages: "state"
	Code string // of a name that is defined twice

	by   map[string]defined[T]
	list []string
}

type defined[T any] struct {
	one T
	at  *Node
}

// Add adds a definition. It reports a name that another has, and returns false; a
// definition without a name is passed over, since that was reported before.
func (x *Names[T]) Add(r *Reporter, name *Node, one T) bool {
	if name == nil {
		return true
	}
	if first, twice := x.by[name.Text]; twice {
		at := first.at.Pos()
		where := fmt.Sprintf("line %d", at.Line)
		if at.File != name.File() {
			where = at.String()
		}
		r.Errorf(name, x.Code, "%s %q is defined twice; the first is at %s", x.What, name.Text, where)
		return false
	}
	if x.by == nil {
		x.by = map[string]defined[T]{}
	}
	x.by[name.Text] = defined[T]{one, name}
	x.list = append(x.list, name.Text)
	return true
}

// Get returns the definition of a name, and the zero value if there is none.
func (x *Names[T]) Get(name string) T { return x.by[name].one }

// List returns the names in the order of their definitions.
func (x *Names[T]) List() []string { return x.list }
