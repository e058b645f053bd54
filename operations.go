package lockstep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// Document is the text of a definition, with the files that it refers to.
type Document struct {
	Text    []byte
	Name    string // the path of its file in Files, for messages and relative references
	Files   fs.FS  // nil: it refers to none
	Dialect string // empty: it is detected
	err     error
}

// Text is a definition that refers to no files.
func Text(text string) Document { return Document{Text: []byte(text)} }

// File is a definition in a file, which may refer to other files of the same file system.
func File(files fs.FS, name string) Document {
	text, err := fs.ReadFile(files, name)
	return Document{Text: text, Name: name, Files: files, err: err}
}

// Deploy makes a definition the current version under its id. Instances that run keep the version
// that they began with. Deploying the same content again changes nothing; other content needs a new
// version in the document. The diagnostics of a document with errors are in [Error.Errors]; warnings
// are in the result.
func (e *Engine) Deploy(ctx context.Context, d Document) (api.Definition, error) {
	if d.err != nil {
		return api.Definition{}, d.err
	}
	doc := server.Document{Name: d.Name, Text: d.Text, Dialect: d.Dialect}
	if d.Files != nil {
		doc.Files = dialect.FSBundle(d.Files, path.Dir(d.Name))
	}
	if err := e.mayUse(); err != nil {
		return api.Definition{}, err
	}
	out, err := e.private.Deploy(ctx, doc)
	return out, wrap(ctx, err)
}

// Bundle is definitions that are deployed together, with the files that they refer to.
type Bundle struct {
	Files       fs.FS    // the folder
	Definitions []string // paths in Files; nil: every definition that is found in it
	Dialect     string   // of all definitions; empty: it is detected
	// AllowUnreachable lets documents on the network pass that cannot be fetched now. Calls that need them fail.
	AllowUnreachable bool
	// AllowMismatch lets calls pass that do not fit the functions of a catalogue. They fail when they are made.
	AllowMismatch bool
}

// DeployBundle deploys the definitions of a folder, as [Engine.Deploy] does, in one transaction: all of them or none.
// A definition refers to files in its own folder and below it. Folders whose names begin with a dot, and scenario
// files (*_test.yaml), are passed over.
func (e *Engine) DeployBundle(ctx context.Context, b Bundle) (api.Bundle, error) {
	if err := e.mayUse(); err != nil {
		return api.Bundle{}, err
	}
	out, err := e.private.DeployFiles(ctx, server.Folder(b))
	return out, wrap(ctx, err)
}

// StartOption is a setting of [Engine.Start].
type StartOption func(*start)

type start struct {
	version, key, id, name string
	labels                 map[string]string
}

// Key makes a start idempotent: a second start of the same definition under the same key, with the
// same input, returns the instance of the first. With another input it is refused.
func Key(key string) StartOption { return func(s *start) { s.key = key } }

// ID is the id of the new instance, at most 128 letters, digits and any of . _ ~ -. A second start under the same id, of
// the same definition with the same input, returns the instance of the first; another one is refused. It cannot be
// combined with [Key].
func ID(id string) StartOption { return func(s *start) { s.id = id } }

// Name is the name of the instance for people, in place of the one that its definition declares.
func Name(name string) StartOption { return func(s *start) { s.name = name } }

// Label gives the instance a label, by which [Engine.List] finds it: Label("order", "A-1038") is found by the filter
// "order:A-1038". It replaces a label of that name that the definition declares.
func Label(name, value string) StartOption {
	return func(s *start) {
		if s.labels == nil {
			s.labels = map[string]string{}
		}
		s.labels[name] = value
	}
}

// Version starts an instance of this version, and not of the current one.
func Version(version string) StartOption { return func(s *start) { s.version = version } }

// Start creates an instance of a definition, and returns its id once the store has it. The input
// becomes JSON as [encoding/json] does, and must be an object; nil counts as {}.
func (e *Engine) Start(ctx context.Context, definition string, input any, options ...StartOption) (id string, err error) {
	if err := e.mayUse(); err != nil {
		return "", err
	}
	var s start
	for _, set := range options {
		set(&s)
	}
	data, err := valueOf(input)
	if err != nil {
		return "", fmt.Errorf("lockstep: the input: %w", err)
	}
	r := engine.StartRequest{Definition: definition, Version: s.version, Input: data, ID: s.id, Name: s.name, Labels: s.labels}
	switch {
	case s.id != "" && s.key != "":
		return "", errors.New("lockstep: a start has an ID or a Key, not both")
	case s.id == "" && s.key == "":
		id, err = e.engine.Start(ctx, r)
	default:
		id, _, err = e.engine.StartOnce(ctx, r, s.key)
	}
	return id, wrap(ctx, err)
}

// Wait returns an instance once it has ended, or once the engine has set it aside
// ([api.Instance.Quarantine]). It returns early with the error of ctx.
func (e *Engine) Wait(ctx context.Context, id string) (api.Instance, error) {
	if err := e.mayUse(); err != nil {
		return api.Instance{}, err
	}
	ctx, cancel := e.whileOpen(ctx)
	defer cancel()
	row, err := e.engine.Wait(ctx, id)
	if err != nil {
		return api.Instance{}, wrap(ctx, err)
	}
	return server.ViewInstance(&row), nil
}

// Run starts an instance and waits until it has ended.
func (e *Engine) Run(ctx context.Context, definition string, input any, options ...StartOption) (api.Instance, error) {
	id, err := e.Start(ctx, definition, input, options...)
	if err != nil {
		return api.Instance{}, err
	}
	return e.Wait(ctx, id)
}

// Get reads an instance as it is now.
func (e *Engine) Get(ctx context.Context, id string) (api.Instance, error) {
	if err := e.mayUse(); err != nil {
		return api.Instance{}, err
	}
	row, err := e.engine.Get(ctx, id)
	if err != nil {
		return api.Instance{}, wrap(ctx, err)
	}
	return server.ViewInstance(&row), nil
}

// List yields the instances that a filter selects, newest first, such as "status:failed def:order".
// The empty filter selects all. docs/api.md describes filters.
func (e *Engine) List(ctx context.Context, filter string) iter.Seq2[api.Instance, error] {
	return wrapped(ctx, client.All(func(after string) (api.Page[api.Instance], error) {
		return e.client.ListInstances(ctx, client.InstanceQuery{Filter: filter, Paging: client.Paging{After: after}})
	}))
}

// History yields the records of an instance, oldest first: what it did, and what others did to it.
func (e *Engine) History(ctx context.Context, id string) iter.Seq2[api.Record, error] {
	return wrapped(ctx, client.All(func(after string) (api.Page[api.Record], error) {
		return e.client.GetHistory(ctx, id, client.Paging{After: after})
	}))
}

// Watch yields the records of an instance, first those that are there and then each new one, until
// the instance has ended. If ctx ends before, the last error is that of ctx.
func (e *Engine) Watch(ctx context.Context, id string) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		after := int64(0)
		for {
			changed := e.engine.Changes() // before reading, so that none is missed
			in, err := e.Get(ctx, id)
			if err == nil {
				after, err = e.recordsAfter(ctx, id, after, yield)
			}
			switch {
			case errors.Is(err, errStopped):
				return
			case err != nil:
				yield(api.Record{}, err)
				return
			case in.Over():
				return
			}
			select {
			case <-changed:
			case <-time.After(lookAgain): // another process may have changed it
			case <-ctx.Done():
			case <-e.open.Done():
			}
		}
	}
}

const (
	// lookAgain is how often Watch reads an instance that no change of this process reports.
	lookAgain = time.Second
	// watchPage is how many records Watch reads at a time.
	watchPage = 500
)

// errStopped says that the caller of an iterator wants no more.
var errStopped = errors.New("stopped")

// recordsAfter yields the records behind a position, and returns the position of the last one.
func (e *Engine) recordsAfter(ctx context.Context, id string, after int64, yield func(api.Record, error) bool) (int64, error) {
	for {
		page, err := e.engine.HistoryPage(ctx, id, after, watchPage)
		if err != nil {
			return after, wrap(ctx, err)
		}
		for i := range page.Records {
			after++
			if !yield(server.ViewRecord(after, &page.Records[i]), nil) {
				return after, errStopped
			}
		}
		if !page.More {
			return after, nil
		}
	}
}

// Send takes an event: once for each source and id while it is kept. It is stored when Send
// returns, and the instances that it is for continue.
func (e *Engine) Send(ctx context.Context, ev event.Event) (api.EventResult, error) {
	if err := e.mayUse(); err != nil {
		return api.EventResult{}, err
	}
	sent, err := e.engine.Send(ctx, ev)
	if err != nil {
		return api.EventResult{}, wrap(ctx, err)
	}
	return server.ViewSent(ev, sent), nil
}

// Answer gives the result of a call that waits for one, because nothing here carries it out.
// [client.Client.ListCalls] lists such calls with their tickets.
func (e *Engine) Answer(ctx context.Context, instance, ticket string, result any) error {
	value, err := valueOf(result)
	if err != nil {
		return fmt.Errorf("lockstep: the result: %w", err)
	}
	_, err = e.client.AnswerCall(ctx, instance, ticket, api.CallAnswer{Result: value.AppendJSON(nil)})
	return wrap(ctx, err)
}

// Pause stops an instance after its current step, until it is resumed. The reason is kept in the
// history, as with all interventions.
func (e *Engine) Pause(ctx context.Context, id, reason string) (api.Instance, error) {
	return intervene(ctx)(e.client.PauseInstance(ctx, id, client.Control{Reason: reason}))
}

// Resume continues an instance that is paused or set aside.
func (e *Engine) Resume(ctx context.Context, id, reason string) (api.Instance, error) {
	return intervene(ctx)(e.client.ResumeInstance(ctx, id, client.Control{Reason: reason}))
}

// Cancel ends an instance after it has compensated what it completed.
func (e *Engine) Cancel(ctx context.Context, id, reason string) (api.Instance, error) {
	return intervene(ctx)(e.client.CancelInstance(ctx, id, true, client.Control{Reason: reason}))
}

// Terminate ends an instance at once. Nothing is compensated.
func (e *Engine) Terminate(ctx context.Context, id, reason string) (api.Instance, error) {
	return intervene(ctx)(e.client.TerminateInstance(ctx, id, client.Control{Reason: reason}))
}

// Retry lets a failed instance try the failed state again.
func (e *Engine) Retry(ctx context.Context, id, reason string) (api.Instance, error) {
	return intervene(ctx)(e.client.RetryInstance(ctx, id, nil, client.Control{Reason: reason}))
}

// intervene wraps the error of an intervention.
func intervene(ctx context.Context) func(api.Instance, error) (api.Instance, error) {
	return func(in api.Instance, err error) (api.Instance, error) { return in, wrap(ctx, err) }
}
