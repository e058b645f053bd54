package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Source is what a front-end compiles.
type Source struct {
	Document *Document
	Bundle   Bundle // never nil
	Options  Options
	Budget   *Budget // nil: none

	// Operations, where it is not nil, takes where the operation of each function
	// stands, by the function's name: documents are checked after compiling.
	Operations map[string]*Node
}

// Read reads a document that this one refers to. Its places bear the file's
// name beside the first document's, or the address it was fetched from. The error
// says that it could not be opened.
func (s Source) Read(ref string) (*Document, Diagnostics, error) {
	text, err := s.Bundle.Open(ref)
	if err != nil {
		return nil, nil, err
	}
	name := ref
	if path, err := bundlePath(ref); err == nil { // else it is an address
		if name = path; !filepath.IsAbs(path) {
			name = filepath.Join(filepath.Dir(s.Document.File), path)
		}
	}
	doc, ds := Read(name, text)
	return doc, ds, nil
}

// Options are choices made when a definition is deployed.
type Options struct {
	Dialect string // a front-end's name; "" detects it
	Schemas string // "enforce" or "warn"; "" is the front-end's default

	Functions []string // names that the function catalogue is known to have

	Budget *Budget // what compiling may cost; nil is that of a definition, and nothing stops it
}

// FrontEnd compiles the documents of one family of versions.
type FrontEnd interface {
	Name() string  // "sw05", as in --dialect
	Title() string // "Serverless Workflow 0.5"

	// Detect reports whether the document bears marks of this family that no
	// other has, and which, as a phrase: `key "functionRef" at line 12`.
	Detect(root *Node) (reason string, ok bool)

	// Compile reports everything wrong in one pass. The program is nil when that
	// includes an error.
	Compile(src Source) (*ir.Program, Diagnostics)

	Codes() []Explanation

	// Schema returns a JSON Schema of the family's documents, for editors. It
	// accepts whatever Compile accepts, and describes every key. Its properties
	// stand in the order of meaning, in which [format] writes them.
	//
	// [format]: https://pkg.go.dev/github.com/lockstep-workflows/lockstep/format
	Schema() []byte
}

// Member is a front-end of a family whose name --dialect takes too, for whichever of
// its members a document is written in.
type Member interface {
	Family() string

	// DetectWithin is Detect for a document that is known to be of the family: weaker
	// marks count. Exactly one member of a family says yes.
	DetectWithin(root *Node) (reason string, ok bool)
}

// Ending is a front-end whose specification has words for how instances end.
type Ending interface {
	// ExecStatus is the word for an instance that completed, where name is empty, or that
	// failed with a fault of this name, code and status of the answer. Category is the
	// specification's own name for such a fault.
	ExecStatus(name, code, status string) (word, category string)
}

// Handling is implemented by front-ends whose definitions handle faults in words of their own.
type Handling interface {
	// Handling says how a state can handle a fault, for people; "" where there is nothing special to say.
	Handling(state string, fault FaultWords) string
}

// FaultWords is what a fault is called.
type FaultWords struct{ Name, Code, Type, Status string }

// Registry holds the front-ends in the order in which they are asked.
type Registry struct{ frontEnds []FrontEnd }

// NewRegistry returns a registry. The order matters: a document with marks of
// two families belongs to the one that stands first (semantics.md §Detection).
func NewRegistry(frontEnds ...FrontEnd) *Registry { return &Registry{frontEnds} }

// FrontEnds returns the front-ends in order.
func (r *Registry) FrontEnds() []FrontEnd { return slices.Clone(r.frontEnds) }

// Detect finds the front-end of a document and says why it is that one. forced,
// when not empty, names it and always wins.
func (r *Registry) Detect(doc *Document, forced string) (FrontEnd, string, Diagnostics) {
	report := Reporter{File: doc.File}
	if forced != "" {
		for _, f := range r.frontEnds {
			if f.Name() == forced {
				return f, "--dialect " + forced, r.checkRoot(doc, &report)
			}
		}
		for _, f := range r.frontEnds {
			m, ok := f.(Member)
			if !ok || m.Family() != forced {
				continue
			}
			if reason, ok := m.DetectWithin(doc.Root); ok {
				return f, fmt.Sprintf("--dialect %s, %s", forced, reason), r.checkRoot(doc, &report)
			}
		}
		report.Errorf(nil, CodeUnknownDialect, "there is no dialect %q", forced).
			WithHint("the dialects are %s", strings.Join(r.Names(), ", ")).DidYouMean(forced, r.Names())
		return nil, "", report.Diagnostics()
	}
	if ds := r.checkRoot(doc, &report); ds.HasErrors() {
		return nil, "", ds
	}
	for _, f := range r.frontEnds {
		if reason, ok := f.Detect(doc.Root); ok {
			return f, reason, nil
		}
	}
	report.Errorf(doc.Root.Pos(), CodeUndecided, "cannot tell which dialect the document is written in").
		WithHint("name it with --dialect: %s", r.titles())
	return nil, "", report.Diagnostics()
}

// checkRoot refuses documents that no dialect could read.
func (r *Registry) checkRoot(doc *Document, report *Reporter) Diagnostics {
	if doc.Root.Is(expr.KindObject) {
		return nil
	}
	kind := "empty"
	if doc.Root != nil {
		kind = doc.Root.Kind.WithArticle()
	}
	report.Errorf(doc.Root, CodeNotObject, "a definition is an object of keys and values, and this document is %s", kind)
	return report.Diagnostics()
}

// Names lists what --dialect takes: each family before its members.
func (r *Registry) Names() []string {
	var names []string
	for _, f := range r.frontEnds {
		if m, ok := f.(Member); ok && !slices.Contains(names, m.Family()) {
			names = append(names, m.Family())
		}
		names = append(names, f.Name())
	}
	return names
}

func (r *Registry) titles() string {
	parts := make([]string, len(r.frontEnds))
	for i, f := range r.frontEnds {
		parts[i] = fmt.Sprintf("%s (%s)", f.Name(), f.Title())
	}
	return strings.Join(parts, ", ")
}

// Codes returns the tables of this package and of all front-ends, for [Explain].
func (r *Registry) Codes() [][]Explanation {
	tables := [][]Explanation{Codes()}
	var families []string
	for _, f := range r.frontEnds {
		if m, ok := f.(Member); ok {
			if slices.Contains(families, m.Family()) { // they share their codes
				continue
			}
			families = append(families, m.Family())
		}
		tables = append(tables, f.Codes())
	}
	return tables
}

// Compiled is a definition with all that is known of it. Program is nil when
// the diagnostics include an error; FrontEnd is nil when none was found.
type Compiled struct {
	Document *Document
	FrontEnd FrontEnd
	Reason   string // why this front-end
	Program  *ir.Program

	// Operations is where the operations of functions stand, by the function's name,
	// also when there are errors.
	Operations map[string]*Node

	// Files is what the front-end opened, by reference.
	Files map[string][]byte

	omitted more // diagnostics
}

// Compile reads, detects and compiles a definition. Diagnostics come from every
// step that could be taken. A nil bundle is [NoBundle].
//
// The program's digest covers the document and everything opened through the
// bundle, so that a changed function file makes a changed definition.
//
// At most [MaxDiagnostics] are returned, and one that says how many more there are.
func (r *Registry) Compile(file string, text []byte, bundle Bundle, opts Options) (Compiled, Diagnostics) {
	if opts.Budget == nil {
		opts.Budget = &Budget{}
	}
	c := Compiled{Document: &Document{File: file}}
	ds := r.compile(&c, file, text, bundle, opts)
	ds.Sort()
	c.omitted = opts.Budget.omitted
	return c, c.Truncate(slices.Compact(ds))
}

func (r *Registry) compile(c *Compiled, file string, text []byte, bundle Bundle, opts Options) (ds Diagnostics) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case exhausted:
			c.Program = nil
			if why.why.File == "" {
				why.why.File = file
			}
			ds = append(ds, why.why)
		default:
			panic(why)
		}
	}()
	opts.Budget.Spend(askEvery) // there may be no time left to begin with
	doc, ds := Read(file, text)
	c.Document = doc
	if doc.Root == nil {
		return ds
	}
	opts.Budget.Spend(len(text) / 16)
	var found Diagnostics
	c.FrontEnd, c.Reason, found = r.Detect(doc, opts.Dialect)
	if c.FrontEnd == nil && ds.HasErrors() && opts.Dialect == "" {
		found = nil // what cannot be read may be what would have decided it
	}
	ds = append(ds, found...)
	if c.FrontEnd != nil && !found.HasErrors() {
		if bundle == nil {
			bundle = NoBundle
		}
		opened := &openedBundle{Bundle: bundle, files: map[string][]byte{}}
		c.Operations, c.Files = map[string]*Node{}, opened.files
		program, found := c.FrontEnd.Compile(Source{Document: doc, Bundle: opened, Options: opts, Budget: opts.Budget, Operations: c.Operations})
		for i := range found {
			if found[i].unfetched {
				found[i].Severity, found[i].unfetched = Warning, false
				program = nil
			}
		}
		ds = append(ds, found...)
		rules := Reporter{File: file}
		scheduleRules(&rules, doc.Root, program)
		ds = append(ds, rules.Diagnostics()...)
		if program != nil && !ds.HasErrors() {
			for i := range program.Nodes {
				n := &program.Nodes[i]
				opts.Budget.name(Pos{file, n.Pos.Line, n.Pos.Column}, n.Name)
			}
			program.Digest = opened.digest(text)
			c.Program = program
		}
	}
	return ds
}

// openedBundle remembers what was opened.
type openedBundle struct {
	Bundle
	files map[string][]byte
}

func (b *openedBundle) Open(ref string) ([]byte, error) {
	text, err := b.Bundle.Open(ref)
	if err == nil {
		b.files[ref] = text
	}
	return text, err
}

// digest of the document alone is that of its bytes, as sha256sum prints it.
func (b *openedBundle) digest(document []byte) string {
	h := sha256.New()
	h.Write(document)
	refs := make([]string, 0, len(b.files))
	for ref := range b.files {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		writeFramed(h, ref)
		writeFramed(h, string(b.files[ref]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeFramed writes the length first, so that no two lists of files look alike.
func writeFramed(h hash.Hash, text string) {
	fmt.Fprintf(h, "\x00%d:", len(text))
	_, _ = io.WriteString(h, text)
}
