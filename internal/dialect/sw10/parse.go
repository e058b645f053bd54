package sw10

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into a definition and reports everything that can be checked one
// value at a time: kinds, required keys, spelling, expressions and their variables. It does not
// stop at an error, so that one pass finds them all.
type parser struct {
	*dialect.Reader
	src dialect.Source
	def *definition

	secrets     map[string]bool
	secretNames []string
	locals      []string            // variables of the loops and catches that are read
	compiled    map[string]compiled // expressions by their text
	schemas     map[string]string   // by their addresses; "": not valid
	quiet       bool                // ${ in the middle of a text is the author's own
	silent      bool                // expressions are read for the second time
	alone       bool                // a function of others is read, which is not told the secrets of those that call it
}

// fieldCodes are the codes of the reader's diagnostics.
var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Number: codeNumber,
	Unknown: codeUnknownKey, Both: codeExclusive, Twice: codeExclusive,
}

func newParser(r *dialect.Reporter, src dialect.Source) *parser {
	return &parser{
		src:     src,
		Reader:  &dialect.Reader{Reporter: r, Codes: fieldCodes, Strict: true},
		def:     &definition{},
		secrets: map[string]bool{}, compiled: map[string]compiled{}, schemas: map[string]string{},
	}
}

// definition reads the top level (Open Workflow §Workflow). What expressions depend on is read
// first: the version, the mode of evaluation, the secrets.
func (p *parser) definition(root *dialect.Node) *definition {
	d := p.def
	d.node = root
	if !root.Is(expr.KindObject) {
		p.Errorf(root, codeNotObject, "a definition is an object with document and do")
		return d
	}
	f := p.Fields(root, "the workflow")
	p.document(f.Need("document"))
	p.evaluate(f.Get("evaluate"))
	p.components(f.Get("use"))
	for _, l := range p.Labels(d.document.metadata) {
		d.labels = append(d.labels, label{l.Key, p.template(l.Value, inLabels)})
	}
	d.input = p.dataFlow(f.Get("input"), "from", inWorkflowInput)
	d.schedule = p.schedule(f.Get("schedule"))
	d.do = p.list(f.Need("do"), "/do")
	d.timeout = p.timeout(f.Get("timeout"), inWorkflowInput)
	d.output = p.dataFlow(f.Get("output"), "as", inWorkflowOutput)
	d.metadata = p.open(f.Get("metadata"))
	p.Strict = false // the schema leaves only the top level open
	f.Done()
	p.Strict = true
	return d
}

// open reads an object whose keys are the author's own.
func (p *parser) open(n *dialect.Node) *dialect.Node {
	if n == nil || !p.Is(n, expr.KindObject, n.Name()) {
		return nil
	}
	return n
}

// document reads what the workflow is (Open Workflow §Document).
func (p *parser) document(n *dialect.Node) {
	f := p.Fields(n, "document")
	if f == nil {
		return
	}
	d := &p.def.document
	d.dsl = p.language(f)
	d.namespace = p.name(f.Name("namespace"))
	d.name = p.name(f.Name("name"))
	d.version = p.semantic(f.Name("version"))
	d.title = f.Str("title")
	d.summary = f.Str("summary")
	d.tags = p.open(f.Get("tags"))
	d.metadata = p.open(f.Get("metadata"))
	f.Done()
}

var (
	semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	simpleName      = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)
)

// newestPatch is the newest version of the language, 1.0.newestPatch.
const newestPatch = 3

// dslVersion reads a version 1.0.x.
func dslVersion(text string) (v version, ok bool) {
	m := semanticVersion.FindStringSubmatch(text)
	if m == nil || m[1] != "1" || m[2] != "0" {
		return version{}, false
	}
	patch, err := strconv.Atoi(m[3])
	return version{patch: patch, prerelease: m[4] != ""}, err == nil
}

func (p *parser) language(f *dialect.Fields) version {
	newest := version{patch: newestPatch}
	n := f.Need("dsl")
	if n != nil && !n.Is(expr.KindNumber) { // a number such as 0.9 is no version 1.0.x in quotes either
		n = p.Named(n, n.Name())
	}
	if n == nil {
		return newest
	}
	v, ok := dslVersion(n.Literal())
	if !ok {
		p.Errorf(n, codeVersion, "version %q of the language is not supported", n.Literal()).
			WithHint("versions 1.0.0 to 1.0.%d are", newestPatch)
		return newest
	}
	return v
}

// semantic reads a semantic version.
func (p *parser) semantic(n *dialect.Node) *dialect.Node {
	if n != nil && !semanticVersion.MatchString(n.Text) {
		p.Errorf(n, codeVersion, "version %q is not a semantic version", n.Text).WithHint(`as in "1.0.0"`)
		return nil
	}
	return n
}

// name reads the name of a workflow or a namespace, which become part of addresses.
func (p *parser) name(n *dialect.Node) *dialect.Node {
	if n == nil {
		return nil
	}
	if !simpleName.MatchString(n.Text) {
		p.Errorf(n, codeName, "%s %q is not allowed", n.Name(), n.Text).
			WithHint("use at most 63 letters, digits and hyphens, with no hyphen at the ends")
		return nil
	}
	return n
}

// evaluate reads how expressions are evaluated (Open Workflow §Evaluate).
func (p *parser) evaluate(n *dialect.Node) {
	f := p.Fields(n, "evaluate")
	if f == nil {
		return
	}
	if language := f.OptionalName("language"); language != nil && !strings.EqualFold(language.Text, langJQ) {
		p.Errorf(language, codeLanguage, "expressions in %q cannot be evaluated", language.Text).WithHint("jq is the language of expressions")
	}
	mode, _ := f.Choice("mode", "strict", "loose")
	p.def.loose = mode == "loose"
	f.Done()
}

// dataFlow reads an input, output or export; key is from or as.
func (p *parser) dataFlow(n *dialect.Node, key string, s scope) dataFlow {
	f := p.Fields(n, n.Name())
	if f == nil {
		return dataFlow{}
	}
	out := dataFlow{node: n}
	if schema := f.Get("schema"); schema != nil {
		out.schema = p.schema(schema)
	}
	out.value = p.transform(f.Get(key), s)
	f.Done()
	return out
}
