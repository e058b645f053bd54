package jsonschema

import (
	"fmt"
	"sync"

	lib "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Ref is the keyword by which a schema of a [Set] refers to another one of it: its
// value is a name. It means what $ref does. The library's own $ref would compile all
// that hangs together at once, in a time that grows with its square.
const Ref = "lockstep:ref"

// Set is schemas that refer to one another, each compiled once however many others
// need it.
type Set struct {
	mu   sync.RWMutex
	docs map[string]any
	idle chan *checker
}

// NewSet returns a set without schemas.
func NewSet() *Set { return &Set{docs: map[string]any{}, idle: make(chan *checker, maxIdle)} }

// Add adds a schema under a new name, or says what is wrong with it. What it refers to
// may be added later.
func (s *Set) Add(name string, schema expr.Value) error {
	doc, bad := toGo(schema, nil)
	if len(bad) > 0 {
		return &expr.SyntaxError{Msg: fmt.Sprintf("the schema's number at %s has too many digits", bad[0].show())}
	}
	if _, err := newChecker(doc); err != nil {
		return describeSchemaError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[name] = doc
	return nil
}

// Program checks values against a schema of the set. All that it refers to, directly or
// not, must have been added.
func (s *Set) Program(name string) expr.Program { return member{s, name} }

// member is one schema of a set.
type member struct {
	set  *Set
	name string
}

// Eval returns an array of {pointer, message}, empty where data is valid.
func (m member) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	var c *checker
	select {
	case c = <-m.set.idle:
	default:
		c = &checker{set: m.set, ready: map[string]*lib.Schema{}}
		c.open()
	}
	c.schema = c.named(m.name)
	found, err := c.check(data, b)
	select {
	case m.set.idle <- c:
	default:
	}
	return listed(found, err, b)
}

// named returns a schema of the set, which is compiled when a value first meets it. It
// was checked when it was added.
func (c *checker) named(name string) *lib.Schema {
	if s := c.ready[name]; s != nil {
		return s
	}
	c.set.mu.RLock()
	doc, ok := c.set.docs[name]
	c.set.mu.RUnlock()
	if !ok {
		panic("jsonschema: the set has no schema " + name)
	}
	budget := c.budget
	c.budget = nil // the library checks the schema itself
	defer func() { c.budget = budget }()
	url := base + "/" + name
	err := c.library.AddResource(url, doc)
	if err == nil {
		c.ready[name], err = c.library.Compile(url)
	}
	if err != nil {
		panic(fmt.Sprintf("jsonschema: the schema %s of a set: %v", name, err))
	}
	return c.ready[name]
}
