package core

import "github.com/lockstep-workflows/lockstep/expr"

// Model is a convention about the data of instances that operations do not express. The
// host gives it to [Link] for programs that ask for one. Like the core, a model is pure.
// Its errors say why an input is refused.
type Model interface {
	Name() string // what messages call an instance

	// Keeps tells that the data stays when an instance is over: it can be read and amended,
	// and the offers of its End can be taken. Records do not repeat such data when a state
	// is left.
	Keeps() bool
	// CheckInput returns what is wrong with an input.
	CheckInput(input expr.Value) []expr.Value
	// Start turns an input into the first data and labels. labels are those of the program.
	Start(input, labels expr.Value) (data, labelled expr.Value)
	// Entered is the part of the data that the record of an entered state has.
	Entered(data expr.Value, state string) expr.Value
	// Output is the part of the data that is the workflow output.
	Output(data expr.Value) expr.Value
	// Choose completes the value that an actor gives with a choice.
	Choose(value expr.Value, choice string) (expr.Value, error)
	// Amend and Label return the next data and labels, and the change that the record has.
	Amend(data, given expr.Value) (next, change expr.Value, err error)
	Label(labels, given expr.Value) (next, change expr.Value, err error)
}

// plain is the model of programs that ask for none: data is what it is given.
type plain struct{}

func (plain) Name() string                                      { return "workflow" }
func (plain) Keeps() bool                                       { return false }
func (plain) CheckInput(expr.Value) []expr.Value                { return nil }
func (plain) Start(in, labels expr.Value) (data, l expr.Value)  { return in, labels }
func (plain) Entered(data expr.Value, _ string) expr.Value      { return data }
func (plain) Output(data expr.Value) expr.Value                 { return data }
func (plain) Choose(v expr.Value, _ string) (expr.Value, error) { return v, nil }

func (plain) Amend(_, given expr.Value) (next, change expr.Value, err error) {
	return given, given, nil
}

func (plain) Label(labels, given expr.Value) (next, change expr.Value, err error) {
	return expr.Merge(labels, given), given, nil
}
