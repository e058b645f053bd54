package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// StartRequest asks for a new instance.
type StartRequest struct {
	Definition string
	Version    string     // empty: the current one
	Input      expr.Value // an object; null counts as {}
	ID         string     // empty: a new one; else as IDError says
	RestartOf  string     // the instance that this one repeats, if it does

	Name   string            // as people call it; empty: as the definition says
	Labels map[string]string // in place of those of the definition that have the same names

	key    string       // see StartOnce: the ID is that of the key
	read   bool         // what is deployed is read first
	events []startEvent // that it begins with
}

// Start creates an instance and runs it until it waits. It fails with *NotFoundError,
// *IDError, *InputError, *PausedError, *QuotaError, *ScheduleError or *ExistsError where the request cannot be met.
func (e *Engine) Start(ctx context.Context, r StartRequest) (id string, err error) {
	for range maxConflicts {
		if id, err = e.start(ctx, r); !e.outdated(ctx, err) {
			break
		}
		r.read = true
	}
	return id, err
}

func (e *Engine) start(ctx context.Context, r StartRequest) (string, error) {
	if r.Input.IsNull() {
		r.Input = expr.EmptyObject
	}
	d, deployed, err := e.findFor(ctx, r.Definition, r.Version, r.read, func(d *definition) error { return e.checkStart(d, &r) })
	if err != nil {
		return "", err
	}
	reusable := !d.prog.Job && (r.key != "" || r.ID != "")
	if r.key != "" {
		r.ID = r.keyedID(d)
	} else if r.ID == "" && d.prog.Job {
		r.ID = e.idHere(e.newJobID)
	} else if r.ID == "" {
		r.ID = e.idHere(e.cfg.NewID)
	}
	row := newRow(d, r.ID, e.now())
	row.RestartOf, row.Job, row.Trace, row.Reusable = r.RestartOf, jobOf(d.prog, r.Input, store.Job{}), traceFrom(ctx), reusable
	if !strings.HasPrefix(r.key, autoKey) {
		row.Key = r.key
	}
	start := core.Start{Data: r.Input, Labels: r.labels()}
	for _, a := range arrivals(d, r.events) {
		row.Keys = fixKeys(row.Keys, d.prog, a.id, a.ev)
		row.Trace = cmp.Or(row.Trace, traceOfEvent(&a.ev))
		start.Events = append(start.Events, core.Arrival{Event: a.id, Value: a.ev.Value()})
	}
	return e.create(ctx, d, deployed, row, start, nil)
}

// checkStart says why a request cannot be met.
func (e *Engine) checkStart(d *definition, r *StartRequest) error {
	if err := e.startable(d.row.ID); err != nil {
		return err
	}
	if now := e.now(); !d.schedule.allows(now) {
		return d.schedule.refusal(d.row.ID, now)
	}
	if r.ID != "" && !validID(r.ID) {
		return &IDError{r.ID}
	}
	if err := r.checkLabels(); err != nil {
		return err
	}
	if err := guard(func() error { return checkInput(d, r.Input) }); err != nil {
		return err
	}
	return e.checkQuota(d.row.ID)
}

// autoKey begins the keys that clients make for themselves, to repeat a request safely. Nobody searches for them.
const autoKey = "auto:"

// maxGivenID is how long an id may be that is chosen by hand ("instance-id").
const maxGivenID = 128

// validID reports whether an id may be chosen. It goes into headers and paths, and must
// not be one that the engine derives.
func validID(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._~-", rune(c))) {
			return false
		}
	}
	return 0 < len(id) && len(id) <= maxGivenID
}

// checkInput says why a workflow input is not acceptable.
func checkInput(d *definition, v expr.Value) error {
	if !v.IsObject() && !d.prog.AnyInput {
		return &InputError{d.row.ID, []Violation{{"", "the workflow input must be a JSON object, not " + v.Kind().String()}}, v, ir.Pos{}}
	}
	if list := d.prog.CheckInput(v); len(list) > 0 {
		return &InputError{d.row.ID, violations(list), v, schemaPos(d)}
	}
	return nil
}

// schemaPos is where a definition asks for the schema of its input.
func schemaPos(d *definition) ir.Pos { return d.prog.Exprs[d.prog.InputSchema].Pos }

// newRow is the row of an instance that is about to start.
func newRow(d *definition, id string, now core.Time) store.Instance {
	return store.Instance{
		ID: id, Definition: d.row.ID, Version: d.row.Version, Digest: d.row.Digest,
		Status: core.Running, Created: now, Updated: now, Labels: expr.EmptyObject, Indexed: !d.prog.Job,
	}
}

// create starts an instance under an id that must be new, unless operators do not allow that. It fails if definitions
// changed since deployed; 0: that does not matter. a, if not nil, gets the new job.
func (e *Engine) create(ctx context.Context, d *definition, deployed int64, row store.Instance, start core.Start, a *ask) (id string, err error) {
	err = e.undecided(func() (err error) {
		if err = e.startable(d.row.ID); err == nil {
			id, err = e.createNow(ctx, d, deployed, row, start, a)
		}
		return err
	})
	return id, err
}

func (e *Engine) createNow(ctx context.Context, d *definition, deployed int64, row store.Instance, start core.Start, a *ask) (string, error) {
	id, how := row.ID, ordinary
	if a != nil {
		how = onRequest
	}
	l, err := e.live.acquire(ctx, id, how)
	if err != nil {
		return "", err
	}
	defer e.live.release(l)
	if l.loaded && !l.row.Status.Final() && e.cacheIsCurrent() { // else the store knows whether it is still there
		return "", &ExistsError{id}
	}
	l.forget()
	start.Seed = e.cfg.Seed(id)
	l.row, l.prog, l.secrets, l.state, l.loaded, l.trusted = row, d.prog, e.secretsOf(d.prog), nil, true, true
	l.deployed = deployed
	if !start.Labels.IsNull() { // it is found by them before its first step, too
		row.Name, row.Labels = named(l.redact(start.Labels))
	}
	err = e.applyTo(ctx, l, &[]input{{in: start, at: row.Created, extra: 1, ask: a}})
	if errors.Is(err, errExpensive) || errors.Is(err, errInterrupted) {
		if err = e.createLater(ctx, row, deployed, start); err == nil {
			return id, nil
		}
	}
	if errors.Is(err, store.ErrConflict) {
		return "", &ExistsError{id}
	}
	if err == nil && a != nil {
		err = a.err
	}
	if err != nil {
		l.forget()
		return "", err
	}
	if !l.loaded { // set aside at once
		row, err := e.store.Instance(ctx, id)
		if err != nil {
			return "", fmt.Errorf("start instance %s: %w", id, err)
		}
		return id, &QuarantineError{id, firstLine(row.Quarantine)}
	}
	return id, nil
}

// createLater stores an instance whose first step is expensive, with its start in the inbox.
func (e *Engine) createLater(ctx context.Context, row store.Instance, deployed int64, start core.Start) error {
	err := e.store.Commit(ctx, store.Commit{
		Instance: row, Deployed: deployed,
		Messages: []store.Message{{To: row.ID, At: row.Created, Input: start}},
	})
	if err != nil {
		return fmt.Errorf("create instance %s: %w", row.ID, err)
	}
	e.stored.Add(1)
	e.quotas.add(row.Definition, 1)
	e.changed(row.ID)
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
