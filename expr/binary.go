package expr

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// The binary form of values inside stored state. It is lossless and smaller and
// several times faster to read than JSON. A tag says the kind; lengths are uvarints.
const (
	tagNull = iota
	tagFalse
	tagTrue
	tagInt
	tagDecimal
	tagString
	tagArray
	tagObject
	tagRef // in place of a value: see AppendBinaryRefs
)

var errBinary = errors.New("expr: malformed binary value")

// AppendBinary appends the binary form of v.
func (v Value) AppendBinary(dst []byte) []byte {
	switch p := v.ref.(type) {
	case nil:
		return append(dst, tagNull)
	case boolRef:
		return append(dst, tagFalse+byte(v.num))
	case intRef:
		return binary.AppendVarint(append(dst, tagInt), int64(v.num))
	case decimalRef:
		return appendText(append(dst, tagDecimal), unsafe.String((*byte)(p), int(v.num)))
	case stringRef:
		return appendText(append(dst, tagString), unsafe.String((*byte)(p), int(v.num)))
	case arrayRef:
		dst = binary.AppendUvarint(append(dst, tagArray), v.num)
		for _, it := range v.Items() {
			dst = it.AppendBinary(dst)
		}
		return dst
	}
	dst = binary.AppendUvarint(append(dst, tagObject), v.num)
	for _, m := range v.Members() {
		dst = m.Value.AppendBinary(appendText(dst, m.Key))
	}
	return dst
}

// AppendBinaryRefs is AppendBinary, but writes the number that ref has for a string, array or object
// in place of it. Only DecodeBinaryRefs can read that.
func (v Value) AppendBinaryRefs(dst []byte, ref func(Value) (uint64, bool)) []byte {
	switch v.ref.(type) {
	case stringRef, arrayRef, objectRef:
		if n, ok := ref(v); ok {
			return binary.AppendUvarint(append(dst, tagRef), n)
		}
	}
	switch v.ref.(type) {
	case arrayRef:
		dst = binary.AppendUvarint(append(dst, tagArray), v.num)
		for _, it := range v.Items() {
			dst = it.AppendBinaryRefs(dst, ref)
		}
		return dst
	case objectRef:
		dst = binary.AppendUvarint(append(dst, tagObject), v.num)
		for _, m := range v.Members() {
			dst = m.Value.AppendBinaryRefs(appendText(dst, m.Key), ref)
		}
		return dst
	}
	return v.AppendBinary(dst)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// maxBinaryDepth bounds the recursion over stored values. It is far beyond
// MaxDepth, because a value that is built may come to nest deeper than any that
// is read, and what was stored must be readable.
const maxBinaryDepth = 32 * MaxDepth

// DecodeBinary reads one value from the front of data and returns the rest.
// The value does not keep data alive.
func DecodeBinary(data []byte) (Value, []byte, error) {
	d := decoder{left: len(data)}
	return d.value(data, 0)
}

// DecodeBinaryRefs is the reverse of AppendBinaryRefs; value has the values of the numbers.
func DecodeBinaryRefs(data []byte, value func(uint64) (Value, bool)) (Value, []byte, error) {
	d := decoder{left: len(data), ref: value}
	return d.value(data, 0)
}

// decoder reads one value. Every element needs a byte at least, so all counts
// together cannot exceed the bytes there were; a forged count allocates nothing.
type decoder struct {
	left int
	ref  func(uint64) (Value, bool) // nil: there are no references
}

func (d *decoder) value(data []byte, depth int) (Value, []byte, error) {
	if len(data) == 0 || depth > maxBinaryDepth {
		return Null, nil, errBinary
	}
	tag, data := data[0], data[1:]
	switch tag {
	case tagNull:
		return Null, data, nil
	case tagFalse, tagTrue:
		return Bool(tag == tagTrue), data, nil
	case tagInt:
		i, n := binary.Varint(data)
		if n <= 0 {
			return Null, nil, errBinary
		}
		return Int(i), data[n:], nil
	case tagDecimal:
		s, rest, err := decodeText(data)
		if err != nil || scanNumber(s) != len(s) || s == "" {
			return Null, nil, errBinary
		}
		return numberOf(s), rest, nil
	case tagString:
		s, rest, err := decodeText(data)
		return String(s), rest, err
	case tagArray:
		return d.array(data, depth)
	case tagObject:
		return d.object(data, depth)
	case tagRef:
		return d.reference(data)
	}
	return Null, nil, errBinary
}

func (d *decoder) reference(data []byte) (Value, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || d.ref == nil {
		return Null, nil, errBinary
	}
	v, ok := d.ref(n)
	if !ok {
		return Null, nil, errBinary
	}
	return v, data[size:], nil
}

func (d *decoder) array(data []byte, depth int) (Value, []byte, error) {
	count, data, err := d.count(data)
	if err != nil {
		return Null, nil, err
	}
	items := make([]Value, count)
	for i := range items {
		if items[i], data, err = d.value(data, depth+1); err != nil {
			return Null, nil, err
		}
	}
	return Array(items...), data, nil
}

func (d *decoder) object(data []byte, depth int) (Value, []byte, error) {
	count, data, err := d.count(data)
	if err != nil {
		return Null, nil, err
	}
	members := make([]Member, count)
	for i := range members {
		m := &members[i]
		if m.Key, data, err = decodeText(data); err != nil {
			return Null, nil, err
		}
		if i > 0 && members[i-1].Key >= m.Key {
			return Null, nil, errBinary // sorted and unique, or not ours
		}
		if m.Value, data, err = d.value(data, depth+1); err != nil {
			return Null, nil, err
		}
	}
	return objectOf(members), data, nil
}

func decodeText(data []byte) (string, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return "", nil, errBinary
	}
	end := size + int(n)
	return string(data[size:end]), data[end:], nil
}

// count reads a number of elements.
func (d *decoder) count(data []byte) (int, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(d.left) {
		return 0, nil, errBinary
	}
	d.left -= int(n)
	return int(n), data[size:], nil
}
