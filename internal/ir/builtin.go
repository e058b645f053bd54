package ir

import "strings"

// BuiltinScheme begins the operation of a call that its own arguments describe.
const BuiltinScheme = "call:"

// Builtin is what a function of kind http, openapi and the like stands for, where the arguments
// of a call are its whole description: the object `with` of Open Workflow 1.0.
type Builtin struct {
	Kind string // http, openapi, grpc, asyncapi, a2a, mcp; shell, script, container
	// Guarded says that data may choose the scheme or the host of an address. Such a call reaches
	// only what is on the operator's allow-list.
	Guarded bool
	// Open says that data gives the endpoint as a whole. Then it has no authentication: the definition
	// chooses which credentials are sent, not data.
	Open bool
	// Authorized says that the arguments refer to the credentials of the call. In those of other calls
	// what looks like that is text.
	Authorized bool
	// Exec says that the call runs a program on the server's machine, which its operator must allow.
	Exec     bool
	Document string // that the call needs, with # and what of it: document#operationId
}

// TargetKey is the member of a function's metadata that tells people where the calls of a built-in kind go, as the
// author wrote it.
const TargetKey = "target"

// Operation is the operation of a function: call:KIND, with ! where it is guarded, * where it is open, $
// where it is authorized and & where it runs a program, in this order, followed by :DOCUMENT#ID if there is one.
func (b Builtin) Operation() string {
	text := BuiltinScheme + b.Kind
	if b.Guarded {
		text += "!"
	}
	if b.Open {
		text += "*"
	}
	if b.Authorized {
		text += "$"
	}
	if b.Exec {
		text += "&"
	}
	if b.Document != "" {
		text += ":" + b.Document
	}
	return text
}

// BuiltinOf reads an operation. It reports false for one of another form.
func BuiltinOf(operation string) (Builtin, bool) {
	text, ok := strings.CutPrefix(operation, BuiltinScheme)
	if !ok {
		return Builtin{}, false
	}
	kind, document, _ := strings.Cut(text, ":")
	kind, exec := strings.CutSuffix(kind, "&")
	kind, authorized := strings.CutSuffix(kind, "$")
	kind, open := strings.CutSuffix(kind, "*")
	kind, guarded := strings.CutSuffix(kind, "!")
	return Builtin{Kind: kind, Guarded: guarded, Open: open, Authorized: authorized, Exec: exec, Document: document}, kind != ""
}

// What stands for the credentials of a call in its arguments until the call is made: only then they
// are known, and they are stored nowhere.
const (
	AuthorizationMark      = "‹authorization " // how they begin
	AuthorizationScheme    = AuthorizationMark + "scheme›"
	AuthorizationParameter = AuthorizationMark + "parameter›"
)
