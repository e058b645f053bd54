package server

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
)

// contract is the OpenAPI document as tests read it.
type contract struct {
	root    expr.Value
	mu      sync.Mutex
	schemas map[string]expr.Program
	seen    map[string]bool // "operation status" of every answer
}

var theContract = sync.OnceValue(func() *contract {
	text, err := contractJSON()
	if err != nil {
		panic(err)
	}
	root, err := expr.ParseJSON(text)
	if err != nil {
		panic(err)
	}
	return &contract{root: strict(root), schemas: map[string]expr.Program{}, seen: map[string]bool{}}
})

// strict closes every object schema that does not say otherwise: an answer must have no
// member that the contract does not name, though clients must bear one.
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

// operation is one of the contract's.
type operation struct {
	id, method, path string
	value            expr.Value
}

func (c *contract) operations() []operation {
	var out []operation
	paths, _ := c.root.Get("paths")
	for _, p := range paths.Members() {
		for _, m := range p.Value.Members() {
			id, _ := m.Value.Get("operationId")
			out = append(out, operation{id.Str(), strings.ToUpper(m.Key), p.Key, m.Value})
		}
	}
	return out
}

// follow resolves a $ref.
func (c *contract) follow(v expr.Value) expr.Value {
	ref, ok := v.Get("$ref")
	if !ok {
		return v
	}
	target, ok := c.root.Lookup(strings.Split(strings.TrimPrefix(ref.Str(), "#/"), "/")...)
	if !ok {
		panic("the contract refers to " + ref.Str() + ", which is not there")
	}
	return target
}

// parameters lists the names of an operation's parameters in a place.
func (c *contract) parameters(op operation, in string) []string {
	list, _ := op.value.Get("parameters")
	var out []string
	for _, p := range list.Items() {
		p = c.follow(p)
		if place, _ := p.Get("in"); place.Str() == in {
			name, _ := p.Get("name")
			out = append(out, name.Str())
		}
	}
	return out
}

// find is the operation that serves a request.
func (c *contract) find(r *http.Request) (operation, bool) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found operation
	for _, op := range c.operations() {
		if op.method != method || !matches(op.path, r.URL.EscapedPath()) {
			continue
		}
		if found.id == "" || strings.Count(op.path, "{") < strings.Count(found.path, "{") {
			found = op
		}
	}
	return found, found.id != ""
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

// schema compiles a schema of the contract.
func (c *contract) schema(schema expr.Value) (expr.Program, error) {
	components, _ := c.root.Get("components")
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

// check says what is wrong with a value under a schema.
func (c *contract) check(schema, v expr.Value) error {
	p, err := c.schema(schema)
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

// checkNamed is check for a schema of the components.
func (c *contract) checkNamed(name string, v expr.Value) error {
	return c.check(expr.Object(expr.Member{Key: "$ref", Value: expr.String("#/components/schemas/" + name)}), v)
}

// checkAnswer says how an answer breaks the contract.
func (c *contract) checkAnswer(r *http.Request, a *http.Response, body []byte) error {
	if a.StatusCode == http.StatusMethodNotAllowed || r.Method == http.MethodOptions {
		return nil // no operation's
	}
	op, ok := c.find(r)
	if !ok {
		if a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusMisdirectedRequest {
			return nil
		}
		return fmt.Errorf("no operation of the contract serves this, and it gives %d", a.StatusCode)
	}
	responses, _ := op.value.Get("responses")
	response, ok := responses.Get(itoa(int64(a.StatusCode)))
	if !ok {
		return fmt.Errorf("the contract has no %d for %s", a.StatusCode, op.id)
	}
	c.mu.Lock()
	c.seen[fmt.Sprint(op.id, " ", a.StatusCode)] = true
	c.mu.Unlock()
	response = c.follow(response)
	headers, _ := response.Get("headers")
	for _, h := range headers.Members() {
		if a.Header.Get(h.Key) == "" {
			return fmt.Errorf("%s %d lacks the header %s", op.id, a.StatusCode, h.Key)
		}
	}
	content, ok := response.Get("content")
	if !ok {
		if len(body) > 0 {
			return fmt.Errorf("%s %d has a body, and should have none: %s", op.id, a.StatusCode, body)
		}
		return nil
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	entry, ok := content.Get(media)
	if !ok {
		return fmt.Errorf("%s %d has the content type %q, which the contract does not name", op.id, a.StatusCode, media)
	}
	if r.Method == http.MethodHead || !strings.HasSuffix(media, "json") {
		return nil
	}
	v, err := expr.ParseJSON(body)
	if err != nil {
		return fmt.Errorf("%s %d is not JSON: %w: %s", op.id, a.StatusCode, err, body)
	}
	schema, ok := entry.Get("schema")
	if !ok || media == "application/json" && op.id == "getSource" {
		return nil // there it is a document, whatever it says
	}
	if err := c.check(schema, v); err != nil {
		return fmt.Errorf("%s %d: %w", op.id, a.StatusCode, err)
	}
	return nil
}

// witness is a RoundTripper that holds every answer to the contract.
type witness struct {
	t    *testing.T
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := w.next.RoundTrip(r)
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
	if err := theContract().checkAnswer(r, a, body); err != nil {
		w.t.Errorf("%s %s: %v", r.Method, r.URL.RequestURI(), err)
	}
	return a, nil
}

// TestContractAndRoutes: both name the same operations, with the same parameters and roles.
func TestContractAndRoutes(t *testing.T) {
	c := theContract()
	byID := map[string]operation{}
	for _, op := range c.operations() {
		if byID[op.id].id != "" {
			t.Errorf("the contract has %s twice", op.id)
		}
		byID[op.id] = op
	}
	for _, rt := range routes {
		op, ok := byID[rt.operation]
		if !ok {
			t.Errorf("%s %s: the contract has no operation %s", rt.method, rt.path, rt.operation)
			continue
		}
		delete(byID, rt.operation)
		if op.method != rt.method || op.path != rt.path {
			t.Errorf("%s is %s %s, in the contract %s %s", rt.operation, rt.method, rt.path, op.method, op.path)
		}
		want, got := c.parameters(op, "query"), slices.Clone(rt.params)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s takes %v, in the contract %v", rt.operation, got, want)
		}
		if want, got := c.roles(op), names(rt.roles); !slices.Equal(want, got) {
			t.Errorf("%s is for %v, in the contract for %v", rt.operation, got, want)
		}
	}
	for id := range byID {
		t.Errorf("the operation %s of the contract is not served", id)
	}
}

// roles are those that the contract lists for an operation.
func (c *contract) roles(op operation) []string {
	security, ok := op.value.Get("security")
	if !ok {
		return []string{"nothing said"}
	}
	var out []string
	for _, s := range security.Items() {
		bearer, _ := s.Get("bearer")
		for _, role := range bearer.Items() {
			out = append(out, role.Str())
		}
	}
	return out
}

// TestContractIsSound: every reference leads somewhere, every schema compiles, every
// component is used.
func TestContractIsSound(t *testing.T) {
	c := theContract()
	used := map[string]bool{}
	var walk func(v expr.Value)
	walk = func(v expr.Value) {
		if ref, ok := v.Get("$ref"); ok && ref.Str() != "" {
			used[ref.Str()] = true
			c.follow(v)
		}
		for _, m := range v.Members() {
			walk(m.Value)
		}
		for _, it := range v.Items() {
			walk(it)
		}
	}
	walk(c.root)
	components, _ := c.root.Get("components")
	for _, section := range components.Members() {
		for _, m := range section.Value.Members() {
			ref := "#/components/" + section.Key + "/" + m.Key
			if section.Key != "securitySchemes" && !used[ref] && m.Key != "StreamChange" { // which is text to the contract
				t.Errorf("nothing uses %s", ref)
			}
			if section.Key == "schemas" {
				if _, err := c.schema(m.Value); err != nil {
					t.Errorf("%s: %v", ref, err)
				}
			}
		}
	}
}

// TestProblemCodes: every code has a meaning, and every status of a kind that an
// operation can give is a response of the contract.
func TestProblemCodes(t *testing.T) {
	seen := map[Code]bool{}
	for _, k := range kinds {
		if seen[k.Code] {
			t.Errorf("%s is there twice", k.Code)
		}
		seen[k.Code] = true
		if k.Title == "" || k.Meaning == "" || k.Status < 400 {
			t.Errorf("%s says too little", k.Code)
		}
	}
}
