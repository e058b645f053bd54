package jsonschema

import (
	"fmt"

	lib "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/cache"
)

// Ref is the keyword by which a schema of a [Set] refers to another one of it: its
// value is a name. It means what $ref does. The library's own $ref would compile all
// that hangs together at once, in a time that grows with its square.
const Ref = "lockstep:ref"

// Part is a schema of a set.
type Part struct {
	doc   any
	bytes int // of a checker that has compiled it
}

// NewPart makes a part of a schema, or says what is wrong with it. What it refers to need
// not be there yet.
func NewPart(schema expr.Value) (Part, error) {
	doc, bad := toGo(schema, nil)
	if len(bad) > 0 {
		return Part{}, &expr.SyntaxError{Msg: fmt.Sprintf("the schema's number at %s has too many digits", bad[0].show())}
	}
	if _, err := newChecker(doc); err != nil {
		return Part{}, describeSchemaError(err)
	}
	size := measure(schema)
	return Part{doc, size.bytes()}, nil
}

// Set is schemas that refer to one another, each compiled once however many others
// need it.
type Set struct {
	find   func(name string) (Part, bool)
	copies cache.Copies[checker]
}

// NewSet returns a set of the parts that find knows. A caller that evaluates in several goroutines
// has find called by all of them.
func NewSet(find func(name string) (Part, bool)) *Set {
	return &Set{find: find}
}

// Program checks values against a schema of the set. All that it refers to, directly or
// not, must be found when a value is checked.
func (s *Set) Program(name string) expr.Program { return member{s, name} }

// member is one schema of a set.
type member struct {
	set  *Set
	name string
}

// Eval returns an array of {pointer, message}, empty where data is valid.
func (m member) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	found, err := m.check(data, nil, b)
	return listed(found, err, b)
}

func (m member) check(data expr.Value, open openParts, b *expr.Budget) ([]violation, error) {
	taken, held := m.set.copies.Take(cache.Key{Kind: "jsonschema set", Of: m.set}, func() (*checker, int) {
		c := &checker{set: m.set, ready: map[string]*lib.Schema{}}
		c.open()
		return c, partBytes
	})
	c := taken.Value
	before := c.setBytes
	c.schema = c.named(m.name)
	found, err := c.check(data, open, b)
	if held != nil && c.setBytes != before {
		held.Resize(partBytes + c.setBytes)
	}
	taken.Release()
	return found, err
}

// named returns a schema of the set, which is compiled when a value first meets it. It
// was checked when it became a part.
func (c *checker) named(name string) *lib.Schema {
	if s := c.ready[name]; s != nil {
		return s
	}
	part, ok := c.set.find(name)
	if !ok {
		panic("jsonschema: the set has no schema " + name)
	}
	budget := c.budget
	c.budget = nil // the library checks the schema itself
	defer func() { c.budget = budget }()
	url := base + "/" + name
	err := c.library.AddResource(url, part.doc)
	if err == nil {
		c.ready[name], err = c.library.Compile(url)
	}
	c.setBytes += part.bytes
	if err != nil {
		panic(fmt.Sprintf("jsonschema: the schema %s of a set: %v", name, err))
	}
	return c.ready[name]
}
