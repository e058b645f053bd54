package jq

import (
	"math"
	"math/big"
	"reflect"

	"github.com/itchyny/gojq"
)

// What a run makes is counted in bytes, and never given back: how long a value lives, nobody
// knows before the run is over. The stacks of the interpreter are not made by any function of
// a filter; they are measured from outside, and only grow. Values count about what they take
// in this version of Go. What a filter is given is not counted.

// Bytes of values.
const (
	sizeSmall  = 16      // a number, or what holds a text or a list
	sizeItem   = 16      // of a list
	sizeGrown  = 32      // of a list that grows while it is made: with room for more, and a number that is the item
	sizeMap    = 48      // an object without members
	sizeGroup  = 288     // up to eight members
	sizeMember = 80      // more of them, with the room that such an object has
	allLevels  = 1 << 30 // a value with everything in it
	groupSize  = 8       // members of a group
)

// sizeOf is what one value takes without what is in it.
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

// alloc counts bytes that the run made.
func (m *meter) alloc(bytes int) error {
	if m.over != nil {
		return m.over
	}
	if m.made += bytes; m.made+m.stacks > m.filter.budget.Memory || bytes < 0 {
		return m.refuse("filter-memory", m.filter.budget.Memory)
	}
	return nil
}

// allocValue counts a value that was made, with so many levels of what is in it.
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
		for key, member := range x { // a sum: any order gives the same
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

// allocGrown counts a list that the interpreter gathered, or made of a value to go through it.
func (m *meter) allocGrown(v any) error {
	switch x := v.(type) {
	case []any:
		return m.alloc(sizeSmall + sizeGrown*len(x))
	case map[string]any:
		return m.alloc(sizeSmall + sizeGrown*len(x))
	}
	return m.alloc(sizeOf(v))
}

// allocCopies counts the lists and objects on the way to some paths: a change copies each of
// them once.
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
			default: // what is not there yet is made
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

// beyond is how many items a list grows by when a step of a path leads behind its end.
func beyond(v, step any) int {
	f, _ := number64(step)
	list, _ := v.([]any)
	return max(0, int(min(f, math.MaxInt32))-len(list))
}

// part is what a step of a path leads to; nil where nothing is.
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

// levels is how deep the values are new that a native function gives; the others give a new
// value of old parts.
var levels = map[string]int{
	"fromjson/0": allLevels, "match/2": allLevels,
	"split/1": 2, "//2": 2, "explode/0": 2, "keys/0": 2, "keys_unsorted/0": 2, "index/1": 2, "rindex/1": 2, "indices/1": 2,
	"_group_by/1": 2, "transpose/0": 2, "gmtime/0": 2, "localtime/0": 2, "strptime/1": 2, "frexp/0": 2, "modf/0": 2, "builtins/0": 2,
}

// allocResult counts what a native function gave.
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

// stacksOf finds the stacks of a run. The interpreter has no way to ask for them, and reading
// how long they are by reflection is all that is done.
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
