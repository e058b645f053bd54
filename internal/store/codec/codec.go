// Package codec encodes what SQL stores do not keep in columns: compact bytes that begin with the
// version of their form. Decoding a damaged value fails with [store.ErrDamaged]; it never panics, and
// never returns another value.
//
// # Checksums
//
// Every value, and every page of a state, is stored as
//
//	0xFE  body  CRC-32C
//
// or, where the body refers to large values that are stored once (package core, chunk.go), as
//
//	0xFD  chunks  references  body  CRC-32C
//
// The checksum, 4 bytes in little-endian order, covers the bytes before it and the owner of the
// value: its kind, the instance, and the columns of its row that never change without it. So a value
// in the row of another instance, frame or event counts as damaged, and so does a row whose columns
// were altered. Every Decode function verifies it.
//
// Values and pages that were stored before there were checksums begin with 1; they are read without a
// check. 0xFE and 1 differ in all eight bits. Every new value has a checksum. Programs that only know
// form 1 cannot read it; the version of the schema keeps them out.
//
// Definitions are text, JSON and the documents of users, which may begin with anything: their
// checksums are in the JSON, see definition.go.
//
// Values that may get new fields have tags, so that a field can be added without a new form: an
// older row lacks the tag, and a row with an unknown tag is refused. Rare values with many fields
// (faults, filters, correlation keys) are JSON, except for the workflow data in them, because JSON
// limits how deep it may nest.
//
//	codec.go      writing and reading
//	sum.go        checksums, and pages
//	state.go      all pages of a small state
//	chunk.go      large values that are stored once
//	instance.go   rows of instances
//	record.go     records
//	input.go      messages and calls
//	event.go      events, filters, gatherings
//	definition.go definitions
//	tally.go      what happened in an hour
package codec

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// form led everything before there were checksums.
const form = 1

// damage is an error that says what is wrong with bytes.
type damage string

func (d damage) Error() string      { return string(d) }
func (damage) Is(target error) bool { return target == store.ErrDamaged }

const (
	errMalformed damage = "malformed row"
	errSum       damage = "the checksum differs"
)

func unknownForm(b byte) error { return fmt.Errorf("%w: form %d is not known", errMalformed, b) }

type writer struct {
	buf    []byte
	from   int          // where the value begins
	chunks *core.Chunks // nil: values refer to none
	refs   []core.ChunkRef
	fresh  [][]byte // chunks that are stored with it
}

// begin makes room for a small value: most are.
func begin(dst []byte) writer {
	return writer{buf: append(slices.Grow(dst, 96), sealed), from: len(dst)}
}

// end is the buffer with the checksum.
func (w *writer) end(o owner) []byte {
	if len(w.refs) > 0 {
		w.putChunks()
	}
	return o.seal(w.buf, w.from)
}

func (w *writer) uint(u uint64)      { w.buf = binary.AppendUvarint(w.buf, u) }
func (w *writer) int(i int64)        { w.buf = binary.AppendVarint(w.buf, i) }
func (w *writer) text(s string)      { w.uint(uint64(len(s))); w.buf = append(w.buf, s...) }
func (w *writer) bytes(b []byte)     { w.uint(uint64(len(b))); w.buf = append(w.buf, b...) }
func (w *writer) value(v expr.Value) { w.buf = v.AppendBinary(w.buf) }

func (w *writer) texts(list []string) {
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

func (w *writer) json(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	w.bytes(b)
}

// word writes one of a list of words as its place, any other as text.
func (w *writer) word(list []string, s string) {
	for i, known := range list {
		if s == known {
			w.uint(uint64(i) + 1)
			return
		}
	}
	w.uint(0)
	w.text(s)
}

func (w *writer) pos(p ir.Pos) {
	w.int(int64(p.Line))
	w.int(int64(p.Column))
}

func (w *writer) fault(f *core.Fault) {
	plain := *f
	plain.Data, plain.Args, plain.State = expr.Null, expr.Null, expr.Null
	w.json(&plain)
	w.large(f.Data)
	w.large(f.Args)
	w.large(f.State)
}

type reader struct {
	data   []byte
	err    error
	told   int64           // the number of records up to it, where chunks are stored with it
	fresh  [][]byte        // those chunks
	refs   []core.ChunkRef // the chunks to which it refers
	source *ChunkSource
}

func open(data []byte, o owner) reader {
	switch {
	case len(data) == 0:
		return reader{err: errMalformed}
	case data[0] == form:
		return reader{data: data[1:]}
	case data[0] != sealed && data[0] != sealedRefs:
		return reader{err: unknownForm(data[0])}
	}
	body, err := o.unseal(data)
	r := reader{data: body, err: err}
	if data[0] == sealedRefs && err == nil {
		r.chunks()
	}
	return r
}

// close tells what went wrong, also what is left over.
func (r *reader) close() error {
	if r.err == nil && len(r.data) > 0 {
		r.fail()
	}
	return r.err
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errMalformed
	}
	r.data = nil
}

func (r *reader) uint() uint64 {
	u, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return u
}

func (r *reader) int() int64 {
	i, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return i
}

// count reads a number of things, each at least a byte long.
func (r *reader) count() int {
	u := r.uint()
	if u > uint64(len(r.data)) {
		r.fail()
		return 0
	}
	return int(u)
}

func (r *reader) bytes() []byte {
	n := r.count()
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.text()
	}
	return out
}

func (r *reader) value() expr.Value {
	if r.err != nil {
		return expr.Null
	}
	v, rest, err := expr.DecodeBinary(r.data)
	if err != nil {
		r.err = fmt.Errorf("%w: %w", errMalformed, err)
		r.data = nil
		return expr.Null
	}
	r.data = rest
	return v
}

func (r *reader) json(v any) {
	b := r.bytes()
	if r.err != nil {
		return
	}
	if err := json.Unmarshal(b, v); err != nil {
		r.err = fmt.Errorf("%w: %w", errMalformed, err)
		r.data = nil
	}
}

func (r *reader) word(list []string) string {
	i := r.uint()
	switch {
	case i == 0:
		return r.text()
	case i > uint64(len(list)):
		r.fail()
		return ""
	}
	return list[i-1]
}

func (r *reader) pos() ir.Pos { return ir.Pos{Line: int(r.int()), Column: int(r.int())} }

func (r *reader) fault() *core.Fault {
	var f core.Fault
	r.json(&f)
	f.Data, f.Args, f.State = r.large(), r.large(), r.large()
	return &f
}

// Words that rows say often. Their places are stored: only append.
var (
	statuses = words(core.Running, core.Waiting, core.Paused, core.Completed, core.Failed, core.Cancelled, core.Terminated)

	recordTypes = words(
		core.RecStarted, core.RecEntered, core.RecLeft, core.RecCalled, core.RecReturned, core.RecCallFailed, core.RecWaiting,
		core.RecConsumed, core.RecProduced, core.RecTimedOut, core.RecRetrying, core.RecCaught, core.RecCompensating, core.RecSpawned,
		core.RecChildEnded, core.RecTaken, core.RecWarning, core.RecControl, core.RecStopped, core.RecFinished,
		core.RecDeleted, core.RecTask,
	)

	verbs = words(
		core.VerbCancel, core.VerbTerminate, core.VerbSuspend, core.VerbResume, core.VerbRetry, core.VerbSkip, core.VerbAmend, core.VerbLabel,
	)
)

func words[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// StatusCode is a status as a number, for columns; 0 is none of them.
func StatusCode(s core.Status) (int64, bool) {
	for i, known := range statuses {
		if string(s) == known {
			return int64(i) + 1, true
		}
	}
	return 0, s == ""
}

// StatusOf is the reverse of StatusCode.
func StatusOf(code int64) core.Status {
	if code < 1 || code > int64(len(statuses)) {
		return ""
	}
	return core.Status(statuses[code-1])
}

// MaxStatus is the greatest code of a status.
const MaxStatus = 7
