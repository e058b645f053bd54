package jq

import (
	"math"
	"math/big"
	"reflect"

	"github.com/itchyny/gojq"
)

// The memory of a run is the bytes of all values that it makes. It is never reduced, because
// nothing knows when a value becomes garbage. The stacks of the interpreter are measured
// from outside, and count with their largest size. Sizes are roughly those of this version of
// Go. The input of a filter does not count.

// Bytes of values.
const (
	sizeSmall  = 16      // a number, or the header of a string or a list
	sizeItem   = 16      // an item of a list
	sizeGrown  = 32      // an item of a list that grows by appending: with spare capacity, and a number as the item
	sizeMap    = 48      // an object without members
	sizeGroup  = 288     // up to eight members
	sizeMember = 80      // each member of a larger object, with spare capacity
	allLevels  = 1 << 30 // a value with everything in it
	groupSize  = 8       // members of a group
)

// sizeOf is the size of a value without the values in it.
func sizeOf(v any) int {
	switch x := v.(type) {
	case string:
		return sizeSmall + len(x)
	case *big.Int:
		return 2*sizeSmall + x.BitLen()/8
	case []any:
		return sizeSmall + sizeItem*len(x)
	case map[string]any:
		return sizeOfObject(len(x))
	}
	return sizeSmall
}

func sizeOfObject(members int) int {
	switch {
	case members == 0:
		return sizeMap
	case members <= groupSize:
		return sizeMap + sizeGroup
	}
	return sizeMap + times(members, sizeMember)
}

// alloc counts bytes that the run allocated.
func (m *meter) alloc(bytes int) error {
	if m.over != nil {
		return m.over
	}
	m.made += bytes
	if m.made+m.stacks > m.memory || bytes < 0 {
		return m.refuse("filter-memory", m.memory)
	}
	return nil
}

// allocValue counts a new value with the values in it, down to a number of levels.
func (m *meter) allocValue(v any, levels int) error {
	if err := m.alloc(sizeOf(v)); err != nil || levels <= 1 {
		return err
	}
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			if err := m.allocValue(item, levels-1); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, member := range x { // a sum does not depend on the order
			if err := m.alloc(len(key)); err != nil {
				return err
			}
			if err := m.allocValue(member, levels-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// allocGrown counts a list that the interpreter collected, or made to iterate over a value.
func (m *meter) allocGrown(v any) error {
	switch x := v.(type) {
	case []any:
		return m.alloc(sizeSmall + sizeGrown*len(x))
	case map[string]any:
		return m.alloc(sizeSmall + sizeGrown*len(x))
	}
	return m.alloc(sizeOf(v))
}

// allocCopies counts the lists and objects along some paths: changing what the paths lead to
// copies each of them once.
func (m *meter) allocCopies(v any, paths []any) error {
	seen := map[uintptr]bool{}
	for _, p := range paths {
		path, _ := p.([]any)
		at := v
		for _, step := range path {
			if err := m.pay(1); err != nil {
				return err
			}
			switch at.(type) {
			case []any, map[string]any:
				if place := reflect.ValueOf(at).Pointer(); !seen[place] {
					seen[place] = true
					if err := m.alloc(sizeOf(at)); err != nil {
						return err
					}
				}
			default: // what is missing is created
				if err := m.alloc(sizeOfObject(1)); err != nil {
					return err
				}
			}
			if err := m.alloc(sizeItem * beyond(at, step)); err != nil {
				return err
			}
			at = part(at, step)
		}
	}
	return nil
}

// beyond is how many items a list grows by if a step of a path leads past its end.
func beyond(v, step any) int {
	f, _ := number64(step)
	list, _ := v.([]any)
	return max(0, int(min(f, math.MaxInt32))-len(list))
}

// part is the value that a step of a path leads to; nil: none.
func part(v, step any) any {
	switch x := v.(type) {
	case map[string]any:
		if key, ok := step.(string); ok {
			return x[key]
		}
	case []any:
		if i, ok := step.(int); ok {
			if i < 0 {
				i += len(x)
			}
			if i >= 0 && i < len(x) {
				return x[i]
			}
		}
	}
	return nil
}

// allocMerged counts the objects that a * b makes.
func (m *meter) allocMerged(a, b any) error {
	left, ok := a.(map[string]any)
	right, also := b.(map[string]any)
	if !ok || !also {
		return nil
	}
	if err := m.alloc(sizeOfObject(len(left) + len(right))); err != nil {
		return err
	}
	for key, member := range right {
		if other, both := left[key]; both {
			if err := m.allocMerged(other, member); err != nil {
				return err
			}
		}
	}
	return nil
}

// levels is how many levels of a native function's result are new. The results of functions
// that are not listed are one new value made of old ones.
var levels = map[string]int{
	"fromjson/0": allLevels, "match/2": allLevels,
	"split/1": 2, "//2": 2, "explode/0": 2, "keys/0": 2, "keys_unsorted/0": 2, "index/1": 2, "rindex/1": 2, "indices/1": 2,
	"_group_by/1": 2, "transpose/0": 2, "gmtime/0": 2, "localtime/0": 2, "strptime/1": 2, "frexp/0": 2, "modf/0": 2, "builtins/0": 2,
}

// allocResult counts the result of a native function.
func (m *meter) allocResult(name string, v any, args []any, result any) error {
	switch name {
	case "setpath/2":
		return m.allocCopies(v, args[:1])
	case "delpaths/1":
		paths, _ := args[0].([]any)
		return m.allocCopies(v, paths)
	case "*/2":
		if _, object := result.(map[string]any); object {
			return m.allocMerged(args[0], args[1])
		}
	}
	return m.allocValue(result, max(1, levels[name]))
}

// stack is one of the stacks of the interpreter.
type stack struct {
	data reflect.Value // a slice
	size int           // bytes of an entry, with what it refers to
}

// stacksOf finds the stacks of a run. gojq does not export them; reflection is used only to read
// their capacity.
func stacksOf(run gojq.Iter) []stack {
	env := reflect.ValueOf(run).Elem()
	return []stack{
		{env.FieldByName("stack").Elem().FieldByName("data"), 40}, // an entry, and a closure that it holds
		{env.FieldByName("paths").Elem().FieldByName("data"), 56}, // an entry, and a step of a path with its value
		{env.FieldByName("scopes").Elem().FieldByName("data"), 48},
		{env.FieldByName("values"), 24},
		{env.FieldByName("forks"), 72},
	}
}

// weighStacks counts what the stacks of the interpreter take.
func (m *meter) weighStacks() error {
	bytes := 0
	for _, s := range m.run {
		bytes += s.data.Cap() * s.size
	}
	m.stacks = max(m.stacks, bytes)
	return m.alloc(0)
}
