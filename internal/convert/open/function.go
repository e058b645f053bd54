package open

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// builtin are names of calls that the language defines.
var builtin = []string{"http", "grpc", "openapi", "asyncapi", "a2a", "mcp"}

// function is the name by which a function is called; "": it cannot be. One with an operation is a function of
// the definition.
func (w *writer) function(pos dialect.Pos, name string, def *states.Function) string {
	operation := ""
	if def != nil {
		operation = def.Operation
		if operation == "" && def.Type != "" && def.Type != states.FunctionLog {
			w.assume(pos, fmt.Sprintf("function %q, of type %s, is in the catalogue under that name", name, def.Type))
		}
	}
	called := name
	if slices.Contains(builtin, name) || strings.ContainsAny(name, ":@ ") {
		called = variable(name) + "Function"
		w.assume(pos, "function "+quote(name)+" is called "+quote(called)+": the name means something else in 1.0")
	}
	w.calls.Names[called] = name
	if operation == "" {
		return called
	}
	if _, ok := w.uses[called]; ok {
		return called
	}
	value, ok := w.operation(pos, called, name, operation)
	if !ok {
		return called
	}
	// Without an answer, the output of a function of the definition is its arguments.
	w.assume(pos, "function "+quote(name)+" always answers something")
	w.calls.Answering[name] = true
	w.uses[called] = value
	w.order = append(w.order, called)
	return called
}

// operation is a function of the definition by its operation.
func (w *writer) operation(pos dialect.Pos, called, name, operation string) (expr.Value, bool) {
	if _, ok := ir.JobWorkflow(operation); ok {
		w.lose(pos, "the operation "+operation+" of function "+quote(name), "a task of 1.0 cannot create a job", "add a function "+quote(called)+" to the catalogue that does")
		return expr.Value{}, false
	}
	if verb, address, ok := strings.Cut(operation, " "); ok {
		return w.request(pos, called, name, verb, address), true
	}
	uri, id, _ := strings.Cut(operation, "#")
	method := strings.ToUpper(id)
	plain := strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://")
	switch {
	case plain && slices.Contains([]string{"", "POST", "PUT", "PATCH", "GET", "HEAD", "DELETE"}, method) && !isDocument(uri):
		if method == "" {
			method = "POST"
		}
		if strings.Contains(uri, "{") {
			w.lose(pos, "the operation "+operation, "braces in an address are a template in 1.0", "write the address by hand")
		}
		part := "body"
		if slices.Contains([]string{"GET", "HEAD", "DELETE"}, method) {
			part = "query"
		}
		w.calls.Inside[called] = part
		return obj("call", str("http"), "with", obj("method", str(strings.ToLower(method)), "endpoint", str(uri), part, jq("."))), true
	case id != "":
		w.calls.Inside[called] = "parameters"
		return obj("call", str("openapi"), "with", obj("document", obj("endpoint", str(uri)), "operationId", str(id), "parameters", jq("."))), true
	}
	w.lose(pos, "the operation "+operation+" of function "+quote(name), "it names no operation that 1.0 can call", "add a function "+quote(called)+" to the catalogue")
	return expr.Value{}, false
}

var uriVariable = regexp.MustCompile(`\{([^{}]*)\}`)

// request is a function that makes an HTTP request: names in its address stand for arguments, the others are the
// body or the query.
func (w *writer) request(pos dialect.Pos, called, name, verb, address string) expr.Value {
	var inPath []string
	for _, m := range uriVariable.FindAllStringSubmatch(address, -1) {
		inPath = append(inPath, "."+key(m[1]))
	}
	rest := "."
	if len(inPath) > 0 {
		rest = "del(" + strings.Join(inPath, ", ") + ")"
	}
	part := "body"
	if slices.Contains([]string{"GET", "HEAD", "DELETE"}, strings.ToUpper(verb)) {
		part = "query"
	}
	w.calls.Unchecked[name] = true
	out := obj("call", str("http"), "with", obj("method", str(strings.ToLower(verb)), "endpoint", str(address), part, jq(rest)))
	if len(inPath) > 0 && w.exact {
		out = out.With("input", obj("from", str(strings.Join(inPath, " |= tostring | ")+" |= tostring")))
	} else if len(inPath) > 0 {
		w.assume(pos, fmt.Sprintf("%s of function %q are texts or numbers", strings.Join(inPath, ", "), name))
	}
	w.assume(pos, fmt.Sprintf("function %q sends what it does now: its request is not compared", name))
	return out
}

func isDocument(uri string) bool {
	lower := strings.ToLower(uri)
	return strings.HasSuffix(lower, ".json") || strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml")
}
