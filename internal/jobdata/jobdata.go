// Package jobdata is the data of jobs: instances of state machines that actors outside
// advance by taking offers (wfx). Their programs have Job set.
//
// The data of a job is {"clientId": …, "definition": …, "status": {"state": …, …}}, whose
// definition may be absent. A job is started with the same, without a state and perhaps
// with "tags", which become the label of that name. The value of an offer is the status
// that replaces the one before; the output is the last status. A job that is over still
// takes the offers of its last End, and its definition can still be amended.
//
// Records of entered states have the status only, and those of left ones nothing: the
// rest changes by amendments, whose record has the new definition and what it replaced.
//
// [Model] implements this for the core, which knows nothing of jobs.
package jobdata

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// The members of a job's data, and of the input that starts it.
const (
	Client     = "clientId"
	Definition = "definition"
	Status     = "status"
	Tags       = "tags" // in the input only: tags become a label
	State      = "state"
	// Members of records only: the definition before an amendment, the tags that were added and
	// removed, and, in a status that was imported, the hash of a definition that may not be known.
	Replaced = "replaced"
	Added    = "added"
	Removed  = "removed"
	Hash     = "definitionHash"
)

// Model is the core.Model of jobs.
type Model struct{}

// Name is what messages call an instance.
func (Model) Name() string { return "job" }

// Keeps is true: a job is read, and may be taken up, when it is over.
func (Model) Keeps() bool { return true }

// CheckInput returns what is wrong with the input of a job.
func (Model) CheckInput(input expr.Value) (out []expr.Value) {
	wrong := func(pointer, message string) {
		out = append(out, expr.Object(
			expr.Member{Key: "pointer", Value: expr.String(pointer)},
			expr.Member{Key: "message", Value: expr.String(message)}))
	}
	if client, _ := input.Get(Client); client.Kind() != expr.KindString || client.Str() == "" {
		wrong("/"+Client, Client+" is required (a non-empty string)")
	}
	for _, m := range input.Members() {
		switch m.Key {
		case Client, Definition:
		case Status:
			if !m.Value.IsObject() {
				wrong("/"+Status, "must be an object, not "+m.Value.Kind().WithArticle())
			}
		case Tags:
			if !areTags(m.Value) {
				wrong("/"+Tags, "must be an array of strings")
			}
		default:
			wrong("", fmt.Sprintf("%q is not known; a job has %s, %s and %s", m.Key, Client, Definition, Tags))
		}
	}
	return out
}

func areTags(v expr.Value) bool {
	notText := func(v expr.Value) bool { return v.Kind() != expr.KindString }
	return v.IsArray() && !slices.ContainsFunc(v.Items(), notText)
}

// Start turns the input of a job into its first data and labels.
func (m Model) Start(input, labels expr.Value) (data, labelled expr.Value) {
	data, labelled = input.Without(Tags), labels
	if tags, ok := input.Get(Tags); ok {
		labelled = labelled.With(Tags, tags)
	}
	if definition, _ := data.Get(Definition); definition.IsNull() {
		data = data.Without(Definition)
	}
	client, _ := data.Get(Client)
	return data.With(Status, m.Output(data).With(Client, client)), labelled
}

// Entered is the status as it is in the state.
func (m Model) Entered(data expr.Value, state string) expr.Value {
	return m.Output(data).With(State, expr.String(state))
}

// Output is the status.
func (Model) Output(data expr.Value) expr.Value {
	status, _ := data.Get(Status)
	return status
}

// Choose makes the status that an actor sends one of the state that it chose.
func (Model) Choose(value expr.Value, choice string) (expr.Value, error) {
	if !value.IsObject() {
		return value, errors.New("the status must be an object, not " + value.Kind().WithArticle())
	}
	return value.With(State, expr.String(choice)), nil
}

// Amend replaces the definition. Only actors change the status, and the client never changes. The
// record has the new definition and the old one.
func (Model) Amend(data, given expr.Value) (next, change expr.Value, err error) {
	for _, key := range []string{Client, Status} {
		value, ok := given.Get(key)
		if have, _ := data.Get(key); ok && !expr.Equal(value, have) {
			return data, given, fmt.Errorf("amend changes the definition of a job; its %s is %s", key, have)
		}
	}
	if !given.IsObject() {
		return data, given, fmt.Errorf("amend needs an object with the job's %s, not %s", Definition, given.Kind().WithArticle())
	}
	next = data.Without(Definition)
	change = expr.EmptyObject
	if before, ok := data.Get(Definition); ok {
		change = change.With(Replaced, before)
	}
	if definition, _ := given.Get(Definition); !definition.IsNull() {
		next = next.With(Definition, definition)
		change = change.With(Definition, definition)
	}
	return next, change, nil
}

// Label merges labels, except tags, which are replaced as a whole. The record has the tags that were
// added and removed.
func (Model) Label(labels, given expr.Value) (next, change expr.Value, err error) {
	next = expr.Merge(labels, given)
	tags, ok := given.Get(Tags)
	if !ok {
		return next, given, nil
	}
	if !areTags(tags) {
		return labels, given, errors.New("the tags of a job must be an array of strings")
	}
	before, _ := labels.Get(Tags)
	change = given.With(Added, without(tags, before)).With(Removed, without(before, tags))
	return next.With(Tags, tags), change, nil
}

// without returns the items of list that are not in others.
func without(list, others expr.Value) expr.Value {
	var out []expr.Value
	for _, v := range list.Items() {
		if !slices.ContainsFunc(others.Items(), func(o expr.Value) bool { return expr.Equal(v, o) }) {
			out = append(out, v)
		}
	}
	return expr.Array(out...)
}
