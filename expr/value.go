package expr

import (
	"strconv"
	"unsafe"
)

// Kind is one of the six kinds of JSON values.
type Kind uint8

// The kinds, in the order in which values of different kinds sort.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// WithArticle returns the kind for a sentence: "a string", "an array", "null".
func (k Kind) WithArticle() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Value is one immutable JSON value; the zero Value is null.
//
// It is three words and needs no further allocation for its header: ref says
// the kind by its dynamic type and points to the first element, num holds the
// length (or the integer itself), in the manner of slog.Value.
type Value struct {
	num uint64
	ref any
}

type (
	boolRef    struct{}
	intRef     struct{}
	decimalRef *byte   // a number that int64 does not hold, as its literal text
	stringRef  *byte   // text
	arrayRef   *Value  // items
	objectRef  *Member // members, sorted by key, keys unique
)

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value Value
}

// Null is JSON's null.
var Null Value

// Bool returns true or false.
func Bool(b bool) Value {
	if b {
		return Value{1, boolRef{}}
	}
	return Value{0, boolRef{}}
}

// Int returns an integer.
func Int(i int64) Value { return Value{uint64(i), intRef{}} }

// String returns text.
func String(s string) Value {
	return Value{uint64(len(s)), stringRef(unsafe.StringData(s))}
}

// Array returns an array of the items. It takes ownership of the slice.
func Array(items ...Value) Value {
	return Value{uint64(len(items)), arrayRef(unsafe.SliceData(items))}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind {
	switch v.ref.(type) {
	case nil:
		return KindNull
	case boolRef:
		return KindBool
	case intRef, decimalRef:
		return KindNumber
	case stringRef:
		return KindString
	case arrayRef:
		return KindArray
	default:
		return KindObject
	}
}

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.ref == nil }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { _, ok := v.ref.(objectRef); return ok }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { _, ok := v.ref.(arrayRef); return ok }

// Bool returns a boolean's value, and false for every other kind.
func (v Value) Bool() bool {
	_, ok := v.ref.(boolRef)
	return ok && v.num == 1
}

// Str returns a string's text, and "" for every other kind.
func (v Value) Str() string {
	p, ok := v.ref.(stringRef)
	if !ok {
		return ""
	}
	return unsafe.String((*byte)(p), int(v.num))
}

// Int returns the value as an integer where it is one that int64 holds.
// 2.0 and 2e0 count as the integer 2.
func (v Value) Int() (int64, bool) {
	switch p := v.ref.(type) {
	case intRef:
		return int64(v.num), true
	case decimalRef:
		return parseDecimal(unsafe.String((*byte)(p), int(v.num))).int64()
	}
	return 0, false
}

// NumberText returns a number's literal text, with every digit that was read.
func (v Value) NumberText() string {
	switch p := v.ref.(type) {
	case intRef:
		return strconv.FormatInt(int64(v.num), 10)
	case decimalRef:
		return unsafe.String((*byte)(p), int(v.num))
	}
	return ""
}

// Items returns an array's items, nil for every other kind. The slice must not be changed.
func (v Value) Items() []Value {
	p, ok := v.ref.(arrayRef)
	if !ok || v.num == 0 {
		return nil
	}
	return unsafe.Slice((*Value)(p), int(v.num))
}

// Members returns an object's members sorted by key, nil for every other kind.
// The slice must not be changed.
func (v Value) Members() []Member {
	p, ok := v.ref.(objectRef)
	if !ok || v.num == 0 {
		return nil
	}
	return unsafe.Slice((*Member)(p), int(v.num))
}

// Len is the number of items or members of a container, the number of bytes of
// a string, else 0.
func (v Value) Len() int {
	switch v.ref.(type) {
	case stringRef, arrayRef, objectRef:
		return int(v.num)
	}
	return 0
}

// Same reports whether both values are the same memory (or equal scalars). It
// is a cheap test for "nothing changed" and may be false for equal values.
func (v Value) Same(o Value) bool { return v == o }

// Truthy reports whether the value counts as true in a condition: everything
// but false, null and the empty string, array and object (semantics.md §Expressions).
func (v Value) Truthy() bool {
	switch v.ref.(type) {
	case nil:
		return false
	case boolRef, stringRef, arrayRef, objectRef:
		return v.num != 0
	}
	return true
}

func (v Value) String() string { return string(v.AppendJSON(nil)) }

// Text returns a string's text, and every other value as JSON: how attributes, labels and
// parameters are written and compared.
func (v Value) Text() string {
	if v.Kind() == KindString {
		return v.Str()
	}
	return v.String()
}

// Depth is how deep the value nests: 0 for a scalar or an empty container. Values
// that are read never exceed [MaxDepth]; what is built from them may.
func (v Value) Depth() int {
	deepest := 0
	for _, it := range v.Items() {
		deepest = max(deepest, 1+it.Depth())
	}
	for _, m := range v.Members() {
		deepest = max(deepest, 1+m.Value.Depth())
	}
	return deepest
}
