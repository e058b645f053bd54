package pin

import "fmt"

// MaxReferences bounds references that lead to references ("reference-chain").
const MaxReferences = 32

// Chain is the references that were followed from one place on.
type Chain struct {
	refs  map[reference]bool
	first reference
}

// reference is a $ref in a document.
type reference struct{ document, ref string }

// Follow adds a $ref in a document, unless the chain comes to no end or is too long.
func (c *Chain) Follow(document, ref string) error {
	next := reference{document, ref}
	switch {
	case c.refs[next]:
		return fmt.Errorf("the reference %q in %q leads back to itself: the references form a cycle", ref, document)
	case len(c.refs) == MaxReferences:
		return fmt.Errorf("the reference %q in %q is too deep: it leads through more than %d references (limit reference-chain); refer to the target itself",
			c.first.ref, c.first.document, MaxReferences)
	case c.refs == nil:
		c.refs, c.first = map[reference]bool{}, next
	}
	c.refs[next] = true
	return nil
}
