package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// RevisionError says that an instance changed since the caller read it.
type RevisionError struct {
	ID         string
	Read, Have int64
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("instance %q changed meanwhile: it is at revision %d, not %d", e.ID, e.Have, e.Read)
}

// KeyConflictError refuses a key that another start was given.
type KeyConflictError struct{ Key, ID string }

func (e *KeyConflictError) Error() string {
	return fmt.Sprintf("the key %q belongs to instance %q, which was started with another input or version", e.Key, e.ID)
}

// StartOnce is Start under a key of the caller's or, without one, under the ID that the request
// chose: with the same again it finds the instance of the first time, and again is true. A key
// that was used with another input or version is a *KeyConflictError, an id that another start had
// an *ExistsError.
func (e *Engine) StartOnce(ctx context.Context, r StartRequest, key string) (id string, again bool, err error) {
	if r.Input.IsNull() {
		r.Input = expr.EmptyObject
	}
	if r.key = key; key != "" {
		r.ID = ""
		if first, found, err := e.startedBefore(ctx, &r); found || err != nil {
			return first, found, err
		}
	}
	for range maxConflicts {
		if id, err = e.Start(ctx, r); err == nil || errors.As(err, new(*QuarantineError)) {
			return id, false, err
		}
		// Someone was first, or what was right then is not any more: the first time counts.
		var exists *ExistsError
		first, known := e.startedUnder(ctx, &r, err)
		switch {
		case isMissing(known) && errors.As(err, &exists): // it was deleted meanwhile
		case isMissing(known):
			return "", false, err
		case known != nil && !isConflict(known) && errors.Is(err, store.ErrUncertain):
			return "", false, err // it may have happened, which is what counts
		default:
			return first, true, known
		}
	}
	return "", false, err
}

func isConflict(err error) bool {
	return errors.As(err, new(*KeyConflictError)) || errors.As(err, new(*ExistsError))
}

// startedBefore finds the instance that a version before this one started under a key: its id begins with "key:".
func (e *Engine) startedBefore(ctx context.Context, r *StartRequest) (id string, found bool, err error) {
	if plain, err := e.onlyPlainIDs(ctx); plain || err != nil {
		return "", false, err
	}
	again := *r
	again.ID = deriveID(keyed, r.keyOf()...)
	err = e.sameStart(ctx, again)
	if isMissing(err) {
		return "", false, nil
	}
	return again.ID, true, err
}

// The note that a store has which no version before this one put an instance into.
const (
	noteKind  = "engine"
	plainNote = "plain-ids"
)

// idsKnown is what is known of the ids in a store, see onlyPlainIDs.
type idsKnown int32

const (
	idsUnknown idsKnown = iota
	idsPlain
	idsOlder
)

// onlyPlainIDs reports whether no version before this one has put an instance into the store, so that nothing needs to be looked
// for under ids that such versions derived from keys. A store is known for that from the time when it was empty, which is when the
// first definition is deployed. Where other nodes use it, too, one of them may be of such a version.
func (e *Engine) onlyPlainIDs(ctx context.Context) (bool, error) {
	if !e.alone {
		return false, nil
	}
	if known := idsKnown(e.ids.Load()); known != idsUnknown {
		return known == idsPlain, nil
	}
	known := idsPlain
	_, err := e.store.Note(ctx, noteKind, plainNote)
	if errors.Is(err, store.ErrNotFound) {
		var stats []store.Stat
		if stats, err = e.store.Stats(ctx); err == nil && len(stats) == 0 {
			err = e.store.PutNote(ctx, store.Note{Kind: noteKind, Key: plainNote}, e.now())
		} else {
			known = idsOlder
		}
	}
	if err != nil {
		return false, fmt.Errorf("how ids were derived: %w", err)
	}
	e.ids.Store(int32(known))
	return known == idsPlain, nil
}

// startedUnder finds the instance of a key or id after a start under it failed, and compares.
func (e *Engine) startedUnder(ctx context.Context, r *StartRequest, failed error) (id string, err error) {
	again := *r
	var exists *ExistsError
	if errors.As(failed, &exists) {
		again.ID = exists.ID
	} else if r.key != "" {
		d, err := e.find(ctx, r.Definition, r.Version)
		if err != nil && !isMissing(err) {
			return "", err
		}
		again.ID = r.keyedID(d)
	}
	return again.ID, e.sameStart(ctx, again)
}

// keyedID is the id of what is started under a key, also where the definition is not there any
// more (nil).
func (r *StartRequest) keyedID(d *definition) string {
	if d != nil && d.prog.Job {
		return keyedJobID(r.Definition, r.keyOf()[1])
	}
	return plain(deriveID(keyed, r.keyOf()...))
}

// keyOf are the definition and the key that an id is derived from. A key of a restart is one of the instance that is
// restarted.
func (r *StartRequest) keyOf() []string {
	if r.RestartOf != "" {
		return []string{r.Definition, r.RestartOf + idSeparator + r.key}
	}
	return []string{r.Definition, r.key}
}

func isMissing(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing)
}

// sameStart compares a start with the one that an instance had. What is not known any more counts as
// the same.
func (e *Engine) sameStart(ctx context.Context, r StartRequest) error {
	row, err := e.Get(ctx, r.ID)
	if err != nil {
		return err
	}
	var conflict error = &ExistsError{r.ID}
	if r.key != "" {
		conflict = &KeyConflictError{r.key, r.ID}
	}
	had, known, err := e.startOf(ctx, row)
	switch {
	case err != nil:
		return err
	case known && !expr.Equal(had.Data, r.Input), r.Definition != row.Definition, r.Version != "" && r.Version != row.Version, r.RestartOf != row.RestartOf,
		row.Key != "" && row.Key != r.key:
		return conflict
	}
	return nil
}

// startOf is what an instance was started with: its state has it or, before its first step, its inbox.
// It is not known of an instance in quarantine whose state cannot be read.
func (e *Engine) startOf(ctx context.Context, row Instance) (start core.Start, known bool, err error) {
	start, known, err = e.readStart(ctx, row)
	if err == nil && !known { // its first step may have come between the two
		start, known, err = e.readStart(ctx, row)
	}
	return start, known, err
}

func (e *Engine) readStart(ctx context.Context, row Instance) (start core.Start, known bool, err error) {
	states, _, err := e.store.States(ctx, []string{row.ID})
	switch {
	case err != nil:
		return start, false, fmt.Errorf("read instance %s: %w", row.ID, err)
	case len(states) == 0:
		return start, false, &NotFoundError{Kind: "instance", ID: row.ID}
	}
	state, err := e.readState(ctx, row, &states[0])
	if err != nil {
		return start, false, fmt.Errorf("read instance %s: %w", row.ID, err)
	}
	if state != nil {
		start, err = e.openStart(ctx, row, core.Start{Data: state.Input(), Events: state.StartEvents()})
		return start, err == nil, err
	}
	messages, err := e.store.Messages(ctx, row.ID)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return start, false, fmt.Errorf("read instance %s: %w", row.ID, err)
	}
	for _, m := range messages {
		if start, known = m.Input.(core.Start); known {
			break
		}
	}
	return start, known, nil
}

// RestartRequest asks for a new instance like another one.
type RestartRequest struct {
	Input   expr.Value // instead of the old one's, if HasInput
	Version string     // instead of the old one's, if not empty
	Key     string     // as in StartOnce, if not empty

	HasInput bool
	Rev      int64 // that the caller read, if not 0
}

// Restart starts a new instance with the input of another one, which stays as it is, of
// the same version. Where events started the old one, they start the new one too.
func (e *Engine) Restart(ctx context.Context, id string, r RestartRequest) (started string, again bool, err error) {
	row, err := e.Get(ctx, id)
	if err != nil {
		return "", false, err
	}
	if r.Rev != 0 && r.Rev != row.Rev {
		return "", false, &RevisionError{id, r.Rev, row.Rev}
	}
	had, known, err := e.startOf(ctx, row)
	input := had.Data
	switch {
	case err != nil:
		return "", false, err
	case r.HasInput:
		input = r.Input
	case !known:
		return "", false, &core.Rejected{Msg: "the input of the instance is lost with its state: give one"}
	}
	start := StartRequest{Definition: row.Definition, Version: row.Version, Input: input, RestartOf: id}
	if r.Version != "" {
		start.Version = r.Version
	}
	if start.events, err = e.startEvents(ctx, row, had.Events); err != nil {
		return "", false, err
	}
	if r.Key != "" {
		return e.StartOnce(ctx, start, r.Key)
	}
	started, err = e.Start(ctx, start)
	return started, false, err
}

// startEvent is an event that started an instance, by its name in the definition.
type startEvent struct {
	name  string
	value expr.Value
}

// arrivals are those of the events that the definition starts with.
func arrivals(d *definition, events []startEvent) []arrival {
	var out []arrival
	for _, s := range events {
		for _, id := range d.prog.Start.Events {
			if ev, err := event.FromValue(s.value); err == nil && d.prog.Events[id].Name == s.name {
				out = append(out, arrival{id, ev})
			}
		}
	}
	return out
}

// startEvents names the events that an instance was started by, so that they can start one of another
// version.
func (e *Engine) startEvents(ctx context.Context, row Instance, arrived []core.Arrival) ([]startEvent, error) {
	byEvents := func(id string) bool {
		return strings.HasPrefix(id, "event"+idSeparator) || strings.HasPrefix(id, "events"+idSeparator)
	}
	if len(arrived) == 0 && (byEvents(row.ID) || byEvents(row.RestartOf)) { // a version before this one started it
		return nil, &core.Rejected{Msg: "the events that started the instance are not known: send them again instead"}
	}
	if len(arrived) == 0 {
		return nil, nil
	}
	prog, err := e.program(ctx, row.Digest)
	if err != nil {
		return nil, err
	}
	var out []startEvent
	for _, a := range arrived {
		out = append(out, startEvent{prog.Events[a.Event].Name, a.Value})
	}
	return out, nil
}

// ControlAt is Control for a caller who read the instance at a revision: where it changed
// since, nothing happens and the error is a *RevisionError.
func (e *Engine) ControlAt(ctx context.Context, id string, c core.Control, rev int64) error {
	row, err := e.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case row.Rev != rev:
		return &RevisionError{id, rev, row.Rev}
	case row.Quarantine != "":
		return e.release(ctx, id, c, rev)
	}
	if err = e.applyAt(ctx, id, rev, input{in: c, at: e.now(), extra: 1}); err != nil {
		return err
	}
	return e.setAsideInstead(ctx, id)
}

// applyAt is apply for an instance that must be at a revision, also once it was given the
// messages and the timers that come before the input.
func (e *Engine) applyAt(ctx context.Context, id string, rev int64, in input) error {
	l, err := e.live.acquire(ctx, id, onRequest)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	if err := e.load(ctx, l); err == nil && l.row.Rev != rev {
		l.forget() // another node may have written
		if err := e.load(ctx, l); err == nil && l.row.Rev != rev {
			return &RevisionError{id, rev, l.row.Rev}
		}
	}
	in.rev = rev
	err = e.applyTo(ctx, l, &[]input{in})
	if errors.Is(err, store.ErrConflict) {
		row, err := e.Get(ctx, id)
		if err != nil {
			return err
		}
		return &RevisionError{id, rev, row.Rev}
	}
	return err
}
