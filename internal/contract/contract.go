// Package contract checks answers of a server against its OpenAPI document. Tests use it: the
// document must describe every answer that they see.
package contract

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// Contract is an OpenAPI document as tests read it.
type Contract struct {
	Root expr.Value
	Base string // the path prefix of the server, which requests may have
	// Documents are operations that answer with a document, whose contents are not checked.
	Documents []string

	mu      sync.Mutex
	schemas map[string]expr.Program
	seen    map[string]bool // "operation status" of every answer
}

// New reads a document in JSON.
func New(text []byte) (*Contract, error) {
	root, err := expr.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	return &Contract{Root: strict(root), schemas: map[string]expr.Program{}, seen: map[string]bool{}}, nil
}

// Sound lists what is wrong with the document itself: schemas that do not compile, and components
// that nothing uses, except those in spare. It panics on a reference without a target.
func (c *Contract) Sound(spare ...string) (problems []string) {
	used := map[string]bool{}
	var walk func(v expr.Value)
	walk = func(v expr.Value) {
		if ref, ok := v.Get("$ref"); ok && ref.Str() != "" {
			used[ref.Str()] = true
			c.Follow(v)
		}
		for _, m := range v.Members() {
			walk(m.Value)
		}
		for _, it := range v.Items() {
			walk(it)
		}
	}
	walk(c.Root)
	components, _ := c.Root.Get("components")
	for _, section := range components.Members() {
		for _, m := range section.Value.Members() {
			ref := "#/components/" + section.Key + "/" + m.Key
			if section.Key != "securitySchemes" && !used[ref] && !slices.Contains(spare, ref) {
				problems = append(problems, "nothing uses "+ref)
			}
			if section.Key == "schemas" {
				if _, err := c.Schema(m.Value); err != nil {
					problems = append(problems, fmt.Sprintf("%s: %v", ref, err))
				}
			}
		}
	}
	return problems
}

// Seen reports whether an operation has answered with a status.
func (c *Contract) Seen(operation, status string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[operation+" "+status]
}

// strict closes every object schema that does not say otherwise: an answer must not have members
// that the contract does not name, although clients must tolerate them.
func strict(v expr.Value) expr.Value {
	switch {
	case v.IsArray():
		var items []expr.Value
		for _, it := range v.Items() {
			items = append(items, strict(it))
		}
		return expr.Array(items...)
	case v.IsObject():
		var members []expr.Member
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: strict(m.Value)})
		}
		_, closed := v.Get("additionalProperties")
		properties, has := v.Get("properties")
		if has && properties.IsObject() && !closed {
			members = append(members, expr.Member{Key: "additionalProperties", Value: expr.Bool(false)})
		}
		return expr.Object(members...)
	}
	return v
}

// Operation is an operation of the contract.
type Operation struct {
	ID, Method, Path string
	Value            expr.Value
}

// Operations lists the operations of the contract.
func (c *Contract) Operations() []Operation {
	var out []Operation
	paths, _ := c.Root.Get("paths")
	for _, p := range paths.Members() {
		for _, m := range p.Value.Members() {
			id, _ := m.Value.Get("operationId")
			out = append(out, Operation{id.Str(), strings.ToUpper(m.Key), p.Key, m.Value})
		}
	}
	return out
}

// Follow resolves a $ref.
func (c *Contract) Follow(v expr.Value) expr.Value {
	ref, ok := v.Get("$ref")
	if !ok {
		return v
	}
	target, ok := c.Root.Lookup(strings.Split(strings.TrimPrefix(ref.Str(), "#/"), "/")...)
	if !ok {
		panic("the contract refers to " + ref.Str() + ", which does not exist")
	}
	return target
}

// Parameters lists the names of an operation's parameters in a place, such as "query".
func (c *Contract) Parameters(op Operation, in string) []string {
	list, _ := op.Value.Get("parameters")
	var out []string
	for _, p := range list.Items() {
		p = c.Follow(p)
		if place, _ := p.Get("in"); place.Str() == in {
			name, _ := p.Get("name")
			out = append(out, name.Str())
		}
	}
	return out
}

// find is the operation that serves a request.
func (c *Contract) find(r *http.Request) (Operation, bool) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found Operation
	for _, op := range c.Operations() {
		if op.Method != method || !matches(op.Path, c.pathOf(r)) {
			continue
		}
		if found.ID == "" || strings.Count(op.Path, "{") < strings.Count(found.Path, "{") {
			found = op
		}
	}
	return found, found.ID != ""
}

// pathOf is the path of a request as the document has it.
func (c *Contract) pathOf(r *http.Request) string {
	at := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(at, c.Base); ok && c.Base != "" {
		at = "/" + strings.TrimPrefix(rest, "/")
	}
	return at
}

func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && (!strings.HasPrefix(want[i], "{") || got[i] == "") {
			return false
		}
	}
	return true
}

// Schema compiles a schema of the contract.
func (c *Contract) Schema(schema expr.Value) (expr.Program, error) {
	components, _ := c.Root.Get("components")
	source := expr.Object(expr.Member{Key: "components", Value: components}, expr.Member{Key: "allOf", Value: expr.Array(schema)}).String()
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.schemas[source]; p != nil {
		return p, nil
	}
	p, err := jsonschema.Compiler{}.Compile(source)
	if err == nil {
		c.schemas[source] = p
	}
	return p, err
}

// Check validates a value against a schema.
func (c *Contract) Check(schema, v expr.Value) error {
	p, err := c.Schema(schema)
	if err != nil {
		return err
	}
	budget := expr.NewBudget()
	r, err := p.Eval(v, &budget)
	if err != nil {
		return err
	}
	if len(r.Value.Items()) > 0 {
		return fmt.Errorf("%s: %s", r.Value, v)
	}
	return nil
}

// CheckNamed is Check for a schema of the components.
func (c *Contract) CheckNamed(name string, v expr.Value) error {
	return c.Check(expr.Object(expr.Member{Key: "$ref", Value: expr.String("#/components/schemas/" + name)}), v)
}

// CheckAnswer returns how an answer violates the contract.
func (c *Contract) CheckAnswer(r *http.Request, a *http.Response, body []byte) error {
	if a.StatusCode == http.StatusMethodNotAllowed || r.Method == http.MethodOptions {
		return nil // not from an operation
	}
	op, ok := c.find(r)
	if !ok {
		if a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusMisdirectedRequest {
			return nil
		}
		return fmt.Errorf("no operation of the contract serves this request, and the status is %d", a.StatusCode)
	}
	responses, _ := op.Value.Get("responses")
	response, ok := responses.Get(strconv.Itoa(a.StatusCode))
	if !ok {
		return fmt.Errorf("the contract has no %d for %s", a.StatusCode, op.ID)
	}
	c.mu.Lock()
	c.seen[fmt.Sprint(op.ID, " ", a.StatusCode)] = true
	c.mu.Unlock()
	response = c.Follow(response)
	headers, _ := response.Get("headers")
	for _, h := range headers.Members() {
		if a.Header.Get(h.Key) == "" {
			return fmt.Errorf("%s %d lacks the header %s", op.ID, a.StatusCode, h.Key)
		}
	}
	if empty, _ := response.Get("x-may-be-empty"); empty.Bool() && len(body) == 0 {
		return nil
	}
	content, ok := response.Get("content")
	if !ok {
		if len(body) > 0 {
			return fmt.Errorf("%s %d has a body, and should have none: %s", op.ID, a.StatusCode, body)
		}
		return nil
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	entry, ok := content.Get(media)
	if !ok {
		return fmt.Errorf("%s %d has the content type %q, which the contract does not name", op.ID, a.StatusCode, media)
	}
	if r.Method == http.MethodHead || !strings.HasSuffix(media, "json") {
		return nil
	}
	v, err := expr.ParseJSON(body)
	if err != nil {
		return fmt.Errorf("%s %d is not JSON: %w: %s", op.ID, a.StatusCode, err, body)
	}
	schema, ok := entry.Get("schema")
	if !ok || media == "application/json" && slices.Contains(c.Documents, op.ID) {
		return nil
	}
	if err := c.Check(schema, v); err != nil {
		return fmt.Errorf("%s %d: %w", op.ID, a.StatusCode, err)
	}
	return nil
}

// Witness is a RoundTripper that checks every answer against a contract.
type Witness struct {
	Contract *Contract
	Next     http.RoundTripper
	Errorf   func(format string, args ...any)
}

// RoundTrip implements http.RoundTripper.
func (w Witness) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := w.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body []byte
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		body, err = io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil {
			return nil, err
		}
		a.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err := w.Contract.CheckAnswer(r, a, body); err != nil {
		w.Errorf("%s %s: %v", r.Method, r.URL.RequestURI(), err)
	}
	return a, nil
}
