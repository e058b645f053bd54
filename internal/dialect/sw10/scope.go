package sw10

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
)

// scope is where an expression stands, as far as it decides which variables there are
// (Open Workflow §Runtime Expressions).
type scope struct {
	where string // in messages: "input.from", "if"
	vars  []string

	private bool // what secrets give stays inside: no warning
	leaves  bool // what secrets give does not go along
	calls   bool // $authorization is there
	any     bool // a shared component: what it may use is decided where it is used
}

// The variables of the runtime.
const (
	varAuthorization = "authorization"
	varContext       = "context"
	varInput         = "input"
	varOutput        = "output"
	varRuntime       = "runtime"
	varSecrets       = "secrets"
	varTask          = "task"
	varWorkflow      = "workflow"
)

var runtimeVariables = []string{
	varAuthorization, varContext, varInput, varOutput, varRuntime, varSecrets, varTask, varWorkflow,
}

var (
	inWorkflowInput  = scope{where: "the workflow's input", vars: []string{varSecrets, varWorkflow, varRuntime}, private: true}
	inWorkflowOutput = scope{where: "the workflow's output", vars: []string{varContext, varSecrets, varWorkflow, varRuntime}}
	inLabels         = scope{where: "the labels of instances"}
	inSchedule       = scope{where: "schedule", vars: []string{varRuntime}}
	inComponent      = scope{where: "use", any: true}

	// Of a task; the variables of loops and catches around it are added.
	rawInput   = scope{vars: []string{varContext, varSecrets, varTask, varWorkflow, varRuntime}}
	taskBody   = scope{vars: append(slices.Clip(rawInput.vars), varInput)}
	taskOutput = taskBody
	taskExport = scope{vars: append(slices.Clip(taskBody.vars), varOutput)}
	// What is waited for is stored as it is, so secrets are no part of it.
	taskEvents = scope{vars: []string{varContext, varTask, varWorkflow, varRuntime, varInput}}
)

// in returns a scope of the task that is read, with the variables around it.
func (p *parser) in(s scope, where string) scope {
	s.where = where
	s.vars = append(slices.Clip(s.vars), p.locals...)
	return s
}

// with reads something that sees more variables.
func (p *parser) with(names []string, read func()) {
	before := p.locals
	p.locals = append(slices.Clip(before), names...)
	read()
	p.locals = before
}

// variableName reads the name that a loop or a catch gives to a variable.
func (p *parser) variableName(f *dialect.Fields, key, otherwise string) string {
	n := f.OptionalName(key)
	if n == nil {
		return otherwise
	}
	name := strings.TrimPrefix(n.Text, "$")
	switch {
	case !jqvar.IsName(name):
		p.Errorf(n, codeVariableName, "%q cannot be the name of a variable", n.Text).
			WithHint("use letters, digits and _, and begin with a letter")
		return otherwise
	case name != n.Text:
		p.Errorf(n, codeVariableName, "the name of a variable is written without $ here").WithHint("write %s", name)
	case slices.Contains(runtimeVariables, name):
		p.Warnf(n, codeShadows, "%s %q hides the variable $%s of the workflow", key, name, name)
	}
	return name
}

// declared reports the variables of an expression that are not there, and secrets that are not
// declared. Variables of shared components are checked where those are used.
func (p *parser) declared(vars []varUse, s scope) {
	type key struct {
		node         *dialect.Node
		name, member string
	}
	seen := make(map[key]bool, len(vars))
	reported := 0
	for _, v := range vars {
		k := key{v.node, v.Name, v.Member}
		if seen[k] {
			continue // one mistake is reported once
		}
		seen[k] = true
		if p.variable(v, s) {
			reported++
		}
		if reported == few { // finding the places of thousands would take long
			return
		}
	}
}

// variable reports what is wrong with the use of a variable, if anything is.
func (p *parser) variable(v varUse, s scope) bool {
	there := slices.Contains(s.vars, v.Name)
	switch {
	case v.Name == varSecrets && p.alone:
		p.Errorf(v.span(), codeVariable, "there is no variable $secrets in a function of a catalogue").
			WithHint("the arguments of its call can have the secrets that it needs")
	case v.Name == varSecrets && v.Member != "" && !p.secrets[v.Member]:
		p.unknownSecret(v.span(), v.Member)
	case s.any:
		return false
	case v.Name == varAuthorization && !there && !s.calls:
		p.Errorf(v.span(), codeAuthorization, "$authorization exists only in the arguments of a call")
	case v.Name == varAuthorization:
		return false
	case !there:
		d := p.Errorf(v.span(), codeVariable, "there is no variable $%s in %s", v.Name, s.where)
		p.variableHint(d, v.Name, s)
	case v.Name == varSecrets && s.leaves:
		p.Warnf(v.span(), codeSecretSpread, "a secret does not leave its instance: a reference goes in its place").
			WithHint("a workflow that needs a secret lists it in its own use.secrets")
	case v.Name == varSecrets && !s.private:
		p.Warnf(v.span(), codeSecretSpread, "the value of a secret becomes part of the data here").
			WithHint("use $secrets in the arguments of the call that needs it")
	default:
		return false
	}
	return true
}

func (p *parser) unknownSecret(at dialect.Place, name string) {
	d := p.Errorf(at, codeSecret, "secret %q is not in use.secrets", name)
	if p.DidYouMean(d, name, p.secretNames) == "" {
		d.WithHint("add it to the list use.secrets")
	}
}

func (p *parser) variableHint(d *dialect.Diagnostic, name string, s scope) {
	switch {
	case name == varInput && slices.Contains(s.vars, varTask):
		d.WithHint("the data, a single dot, is the task's input here")
	case name == varInput:
		d.WithHint("$workflow.input is the input of the workflow")
	case name == varOutput && slices.Contains(s.vars, varInput):
		d.WithHint("the data, a single dot, is the output here; only export sees $output as well")
	case name == varSecrets:
		d.WithHint("filters and correlations are stored as they are; compare with the secret after the event has come")
	case name == varContext:
		d.WithHint("there is no context before the first task")
	case p.Near(name, s.vars) != "":
		d.WithHint("did you mean $%s?", p.Near(name, s.vars))
	default:
		list := make([]string, len(s.vars))
		for i, v := range s.vars {
			list[i] = "$" + v
		}
		d.WithHint("there are %s", strings.Join(list, ", "))
	}
}

// quoteAll writes names for a hint.
func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}
