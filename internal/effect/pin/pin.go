// Package pin finds the documents that the calls of a definition refer to (OpenAPI and AsyncAPI documents,
// .proto files, agent cards, scripts), checks the calls against them, and stores them in the program: what an
// operation means does not change while instances run.
package pin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Limits of the documents of one definition.
const (
	MaxDocuments = 64      // pinned-documents
	MaxBytes     = 8 << 20 // pinned-bytes
)

// Definition is where functions stand, for diagnostics.
type Definition struct {
	File       string
	Program    *ir.Program              // nil: the definition has errors
	Operations map[string]*dialect.Node // by the name of the function
	Root       *dialect.Node            // of the document; nil: only where expressions begin is known
	MaxTimeout time.Duration            // how long a call may take at most; 0: not known
	Files      map[string][]byte        // what the front-end opened, by reference; the digest of the program covers it

	// AllowUnreachable makes a document from the network that cannot be opened a warning. Calls that need it fail.
	AllowUnreachable bool
	// AllowMismatch makes a call that does not fit the catalogue a warning. It fails when it is made, unless the
	// catalogue is another one by then.
	AllowMismatch bool
}

// Function is a function of a definition.
type Function struct {
	Name      string
	Operation route.Operation
	Builtin   ir.Builtin    // zero: it is of no kind that arguments describe
	Calls     []Call        // where it is called
	Document  dialect.Place // where the document is named
	ID        dialect.Place // where the operation in it is
}

// Kind knows the documents of one kind of calls.
type Kind interface {
	// Find opens the documents of a function with [Finder.Open], and reports what is wrong with them and with its
	// calls. Errors are, with [Finder.Failf], that no call of the function can be made, and arguments that no instance
	// can make right; all else is a warning. It returns the reference of the function's own document; "": there is
	// none.
	Find(f *Finder, fn Function) (root string)
}

// Kinds are all of them, by the kind of a built-in call.
type Kinds map[string]Kind

// kindOf finds the kind of an operation.
func (k Kinds) kindOf(o route.Operation) Kind {
	if o.Kind == route.Document {
		return k["openapi"]
	}
	if o.Kind == route.Other {
		return k[o.ID]
	}
	return nil
}

// Finder opens the documents of a definition once each, and takes what is wrong with them.
type Finder struct {
	Ctx context.Context
	dialect.Reporter
	def    Definition
	bundle dialect.Bundle
	docs   map[string]opened
	order  []effect.Document
	bytes  int
	kept   map[any]any
	nodes  map[ir.Pos]*dialect.Node // the values of the document by where they begin; nil: not asked for yet
	sites  map[ir.FunctionID][]int  // the nodes that call each function; nil: not asked for yet
	items  map[string]bool          // the names of items of loops
	stream map[string]bool          // the functions whose calls are answered with a stream
	ends   map[*ir.Node]*ir.Node    // the node that enters the region that ends at a node with its data
}

// opened is a document, or why there is none.
type opened struct {
	text []byte
	err  error
}

// OpenError says that a document cannot be opened.
type OpenError struct {
	Ref string
	Err error
}

func (e *OpenError) Error() string { return e.Err.Error() }

func (e *OpenError) Unwrap() error { return e.Err }

// NewFinder finds documents of the bundle.
func NewFinder(ctx context.Context, bundle dialect.Bundle, def Definition) *Finder {
	bytes := 0
	for _, text := range def.Files {
		bytes += len(text)
	}
	return &Finder{
		bytes: bytes, Ctx: ctx, Reporter: dialect.Reporter{File: def.File}, def: def, bundle: bundle,
		docs: map[string]opened{}, kept: map[any]any{},
	}
}

// Open opens a document by its reference without a fragment. What it opens is pinned.
func (f *Finder) Open(ref string) ([]byte, error) {
	if o, ok := f.docs[ref]; ok {
		return o.text, o.err
	}
	text, err := f.read(ref)
	if err != nil {
		err = &OpenError{ref, err}
	}
	f.docs[ref] = opened{text, err}
	if err == nil {
		f.order = append(f.order, effect.Document{Ref: ref, Text: stored(text)})
	}
	return text, err
}

// Failf reports that no call of a function can be made, and its cause; nil: the message says it. It is an error,
// and a warning where the cause is a document from the network that may be missing.
func (f *Finder) Failf(at dialect.Place, cause error, code, format string, args ...any) *dialect.Diagnostic {
	missing, ok := errors.AsType[*OpenError](cause)
	switch {
	case !ok || !route.Remote(missing.Ref):
		return f.Errorf(at, code, format, args...)
	case f.def.AllowUnreachable:
		return f.Warnf(at, code, format, args...)
	}
	return f.Errorf(at, code, format, args...).
		WithHint("make the address reachable (--outbound-allow permits a private one), put the document beside the definition, or let it pass with allow-unreachable")
}

// AllowMismatch reports whether a call that does not fit the catalogue is only a warning.
func (f *Finder) AllowMismatch() bool { return f.def.AllowMismatch }

// stored is how a document is pinned: programs are stored as JSON, so one that is not text, such as a descriptor
// set of Protocol Buffers, is base64 from then on.
func stored(text []byte) string {
	if isText(text) {
		return string(text)
	}
	return base64.StdEncoding.EncodeToString(text)
}

func isText(text []byte) bool { return utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 }

// File is the file that a resource was made of.
func File(r ir.Resource) []byte {
	if data, err := base64.StdEncoding.DecodeString(r.Text); err == nil && !isText(data) {
		return data
	}
	return []byte(r.Text)
}

var errBytes = fmt.Errorf("the documents of the definition have more than %d bytes (limit pinned-bytes)", MaxBytes)

func (f *Finder) read(ref string) ([]byte, error) {
	if err := f.Ctx.Err(); err != nil {
		return nil, err
	}
	if len(f.order) == MaxDocuments {
		return nil, fmt.Errorf("the definition refers to more than %d documents (limit pinned-documents)", MaxDocuments)
	}
	text, err := f.bundle.Open(ref)
	if err != nil {
		return nil, err
	}
	if f.bytes += len(text); f.bytes > MaxBytes {
		return nil, errBytes
	}
	return text, nil
}

// Keep returns what make made for a key before, or makes it: what a kind has read of its documents so far.
func (f *Finder) Keep(key any, make func() any) any {
	if f.kept[key] == nil {
		f.kept[key] = make()
	}
	return f.kept[key]
}

// Documents are those that were opened, in order.
func (f *Finder) Documents(root string) effect.Documents {
	return effect.Documents{Key: digest("", f.order), Root: f.number(root), All: f.order}
}

// number is 1 + the index of a document; 0: there is none.
func (f *Finder) number(ref string) int {
	return 1 + slices.IndexFunc(f.order, func(d effect.Document) bool { return d.Ref == ref })
}

// Pin opens the documents of a program's functions and stores them in the program; its
// digest covers them from then on. A program is pinned once, before it is deployed.
// Where there is an error, or ctx ends before that, it must not be deployed.
func (k Kinds) Pin(ctx context.Context, bundle dialect.Bundle, def Definition) dialect.Diagnostics {
	f, p := NewFinder(ctx, bundle, def), def.Program
	if f.bytes > MaxBytes {
		f.Errorf(nil, CodeDocument, "%v", errBytes)
		return f.Diagnostics()
	}
	roots := make([]string, len(p.Functions))
	for i := range p.Functions {
		roots[i] = k.find(f, i)
		if err := ctx.Err(); err != nil {
			given := dialect.Reporter{File: def.File}
			given.Errorf(dialect.Pos{File: def.File, Line: 1, Column: 1}, CodeDocument, "the documents of the functions are not all opened yet: %v", err)
			return given.Diagnostics()
		}
	}
	for i, root := range roots {
		if root != "" {
			p.Functions[i].Resource = f.number(root)
		}
	}
	for _, d := range f.order {
		p.Resources = append(p.Resources, ir.Resource{Ref: d.Ref, Text: d.Text})
	}
	if len(f.order) > 0 {
		p.Digest = digest(p.Digest, f.order)
	}
	f.checkTimeouts()
	for _, ref := range slices.Sorted(maps.Keys(def.Files)) {
		if f.number(ref) == 0 {
			p.Resources = append(p.Resources, ir.Resource{Ref: ref, Text: stored(def.Files[ref])})
		}
	}
	return f.Diagnostics()
}

// Codes of the documents of calls; those of OpenAPI documents are in package openapi.
const (
	CodeDocument = "CALL001" // it cannot be opened or read
	CodeMismatch = "CALL003" // a call does not fit it
	CodeMissing  = "CALL004" // an argument that it requires is missing
	CodeUnknown  = "CALL005" // it has no such argument
	CodeConstant = "CALL006" // a constant is not what it asks for
	CodeResult   = "CALL007" // it does not have a result that is read
	CodeInput    = "CALL008" // the input of another workflow does not fit its schema
	CodeTimeout  = "CALL009" // it ends before its timeout
)

// Local is the bundle without documents from the network.
func Local(b dialect.Bundle) dialect.Bundle { return localBundle{b} }

type localBundle struct{ dialect.Bundle }

func (b localBundle) Open(ref string) ([]byte, error) {
	if route.Remote(ref) {
		return nil, fmt.Errorf("%q: %w", ref, dialect.ErrNotFetched)
	}
	return b.Bundle.Open(ref)
}

// Check reports what Pin would, also for a definition that has errors elsewhere, and
// nothing where ctx ends before it is done. It opens addresses only where fetch is set:
// otherwise each is a warning.
func (k Kinds) Check(ctx context.Context, bundle dialect.Bundle, def Definition, fetch bool) dialect.Diagnostics {
	if !fetch {
		bundle, def.AllowUnreachable = Local(bundle), true
	}
	f := NewFinder(ctx, bundle, def)
	known := map[string]bool{}
	if def.Program != nil {
		for i, fn := range def.Program.Functions {
			known[fn.Name] = true
			k.find(f, i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(def.Operations)) {
		n := def.Operations[name]
		if !known[name] {
			k.of(f, f.operation(name, n.Text, n.Pos()))
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	f.checkTimeouts()
	return f.Diagnostics()
}

// find finds the documents of a function of the program.
func (k Kinds) find(f *Finder, i int) string {
	at := f.def.Program.Functions[i]
	fn := f.operation(at.Name, at.Operation, dialect.Pos{File: f.def.File, Line: at.Pos.Line, Column: at.Pos.Column})
	if k.kindOf(fn.Operation) != nil {
		fn.Calls = f.Calls(ir.FunctionID(i))
	}
	return k.of(f, fn)
}

func (k Kinds) of(f *Finder, fn Function) string {
	if kind := k.kindOf(fn.Operation); kind != nil && f.Ctx.Err() == nil {
		return kind.Find(f, fn)
	}
	return ""
}

// operation reads the operation of a function.
func (f *Finder) operation(name, operation string, pos dialect.Pos) Function {
	fn := Function{Name: name, Operation: route.Parse(operation), Document: pos, ID: pos}
	fn.Builtin, _ = ir.BuiltinOf(operation)
	if n := f.def.Operations[name]; n != nil && n.Text == operation {
		document := len(fn.Operation.Document)
		fn.Document, fn.ID = n.SpanIn(0, document), n.SpanIn(min(document+1, len(n.Text)), len(n.Text))
	}
	return fn
}

// digest covers the documents too. Lengths come first, so that no two lists of
// documents look alike.
func digest(before string, all []effect.Document) string {
	h := sha256.New()
	frame := func(text string) {
		fmt.Fprintf(h, "\x00%d:", len(text))
		_, _ = io.WriteString(h, text) // a hash never fails
	}
	frame(before)
	for _, r := range all {
		frame(r.Ref)
		frame(r.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
