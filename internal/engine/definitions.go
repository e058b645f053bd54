package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// definition is a deployed definition, ready to run.
type definition struct {
	row      store.Definition
	prog     *core.Program
	schedule *schedule // nil: always active
}

type aliasKey struct{ id, version string }

// contentKey names the content of a definition: the digest of its source and how it
// was deployed; that of the program where the source's is not known.
func contentKey(p *ir.Program, text []byte) string {
	key := p.Digest
	if key == "" {
		sum := sha256.Sum256(text)
		key = hex.EncodeToString(sum[:])
	}
	if p.WarnSchemas {
		key += "+warn"
	}
	return key
}

// define makes a stored definition ready to run.
func (e *Engine) define(row store.Definition) (*definition, error) {
	prog, err := e.link(row)
	if err != nil {
		return nil, err
	}
	d := &definition{row: row, prog: prog}
	d.schedule, err = e.newSchedule(prog.Start.Schedule, row.Deployed)
	return d, err
}

// link decodes and compiles a program once per content.
func (e *Engine) link(row store.Definition) (*core.Program, error) {
	e.mu.Lock()
	prog, beyond := e.linked[row.Digest], e.unloadable[row.Digest]
	e.mu.Unlock()
	if prog != nil {
		return prog, nil
	}
	if beyond != nil {
		return nil, beyond
	}
	p, err := ir.Decode(row.Program)
	if err != nil {
		return nil, err
	}
	prog, err = core.Link(p, e.cfg.Languages, jobdata.Model{})
	var limit *expr.LimitError
	if errors.As(err, &limit) {
		beyond := &UnloadableError{ID: p.ID, Limit: limit.Limit, Err: err}
		e.mu.Lock()
		e.unloadable[row.Digest] = beyond
		e.mu.Unlock()
		return nil, beyond
	}
	if err != nil {
		return nil, err
	}
	if e.cfg.Limits != nil {
		prog.Limits = *e.cfg.Limits
	}
	prog.Stops = e.cfg.Stops
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.linked[row.Digest]; known != nil {
		return known, nil
	}
	e.linked[row.Digest] = prog
	return prog, nil
}

// adopt makes definitions the current ones of their ids, at once. The caller has the lock of
// deployments, so that they are the store's current ones, too.
func (e *Engine) adopt(ds ...*definition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.aliases++
	for _, d := range ds {
		e.byID[aliasKey{d.row.ID, d.row.Version}] = d
		e.byID[aliasKey{d.row.ID, ""}] = d
	}
	e.starts = nil
}

// startsByType lists the current definitions that events start, by the type of those
// events, then by id. Routers hold the map: it is made anew, never changed. The caller
// holds the lock.
func (e *Engine) startsByType() map[string][]*definition {
	if e.starts != nil {
		return e.starts
	}
	e.starts = map[string][]*definition{}
	for key, d := range e.byID {
		if key.version != "" || e.retiredNow(key.id) != nil {
			continue
		}
		for _, id := range d.prog.Start.Events {
			if typ := d.prog.Events[id].Type; !slices.Contains(e.starts[typ], d) {
				e.starts[typ] = append(e.starts[typ], d)
			}
		}
	}
	for _, list := range e.starts {
		slices.SortFunc(list, func(a, b *definition) int { return strings.Compare(a.row.ID, b.row.ID) })
	}
	return e.starts
}

// find returns a definition by alias; version "" is the current one.
func (e *Engine) find(ctx context.Context, id, version string) (*definition, error) {
	if err := e.upToDate(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	d, seen := e.byID[aliasKey{id, version}], e.aliases
	e.mu.Unlock()
	if d != nil {
		return d, nil
	}
	row, err := e.store.Definition(ctx, id, version)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &NotFoundError{"definition", id, version}
	}
	if err != nil {
		return nil, fmt.Errorf("find definition %s: %w", id, err)
	}
	if d, err = e.define(row); err != nil {
		return nil, damaged(id, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.aliases == seen { // else it may be an older one already
		e.byID[aliasKey{id, version}] = d
		e.starts = nil
	}
	return d, nil
}

// inherited is the schedule of a version that becomes current because a later one is
// deleted: it begins now.
func (e *Engine) inherited(row store.Definition) *store.Schedule {
	d, err := e.define(row)
	if err != nil || !d.schedule.fires() {
		return nil // inherit tells
	}
	at := d.schedule.first(e.now())
	if at == nil {
		return nil
	}
	return &store.Schedule{Definition: row.ID, Digest: row.Digest, Next: *at}
}

// inherit makes a version the current one because a later one was deleted.
func (e *Engine) inherit(row store.Definition) {
	d, err := e.define(row)
	if err != nil {
		e.report(fmt.Errorf("definition %s: %w", row.ID, err))
		return
	}
	e.adopt(d)
}

// findFor finds and checks the definition of a new instance. In a shared store it uses the one in
// memory if that passes the check, without reading: then deployed is not 0, and the commit fails if
// definitions changed since. After such a failure the caller sets read.
func (e *Engine) findFor(ctx context.Context, id, version string, read bool, check func(*definition) error) (d *definition, deployed int64, err error) {
	if e.shared != nil && !read {
		e.mu.Lock()
		d, deployed = e.byID[aliasKey{id, version}], e.cluster.deployments
		e.mu.Unlock()
		if d != nil && deployed != 0 && check(d) == nil {
			return d, deployed, nil
		}
	}
	if d, err = e.find(ctx, id, version); err == nil {
		err = check(d)
	}
	return d, 0, err
}

// outdated reports whether an error says that definitions changed: the content of one was deleted while
// it was being started, or another node deployed one. It drops what is cached of it, so that a retry
// finds what there is now.
func (e *Engine) outdated(ctx context.Context, err error) bool {
	if errors.Is(err, store.ErrOutdated) {
		e.report(e.readOutdated(ctx))
		return true
	}
	gone, ok := errors.AsType[*store.NoContentError](err)
	if !ok {
		return false
	}
	e.mu.Lock()
	for key, d := range e.byID {
		if d.row.Digest == gone.Digest {
			delete(e.byID, key)
		}
	}
	delete(e.linked, gone.Digest)
	e.aliases++
	e.starts = nil
	e.mu.Unlock()
	if _, err := e.refresh(ctx, gone.Definition); err != nil && !errors.Is(err, store.ErrNotFound) {
		e.report(err)
	}
	return true
}

// refresh reads the current version anew: another node may have deployed one.
func (e *Engine) refresh(ctx context.Context, id string) (*definition, error) {
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	row, err := e.store.Definition(ctx, id, "")
	if err != nil {
		return nil, fmt.Errorf("find definition %s: %w", id, err)
	}
	d, err := e.define(row)
	if err != nil {
		return nil, damaged(id, err)
	}
	e.adopt(d)
	return d, nil
}

// program returns the program that an instance is pinned to.
func (e *Engine) program(ctx context.Context, digest string) (*core.Program, error) {
	e.mu.Lock()
	prog := e.linked[digest]
	e.mu.Unlock()
	if prog != nil {
		return prog, nil
	}
	row, err := e.store.Content(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("read definition: %w", err)
	}
	if prog, err = e.link(row); err != nil {
		return nil, damaged(row.ID, err)
	}
	return prog, nil
}

// UnloadableError says that a definition does not fit into the limits of this program, though it
// did when it was deployed. Its instances wait for a program in which it does.
type UnloadableError struct {
	ID    string
	Limit string // its name
	Err   error
}

func (e *UnloadableError) Error() string {
	return fmt.Sprintf("definition %s is set aside: %v", e.ID, e.Err)
}

func (e *UnloadableError) Unwrap() error { return e.Err }

// Unloadable returns why the content with a digest cannot be used; nil: it can, or it has not been
// loaded yet. Current definitions are loaded when an engine starts.
func (e *Engine) Unloadable(digest string) *UnloadableError {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unloadable[digest]
}

// damaged says that a stored program cannot be used.
func damaged(id string, err error) error {
	if beyond := (*UnloadableError)(nil); errors.As(err, &beyond) {
		return err
	}
	return fmt.Errorf("definition %s is %w: %w", id, store.ErrDamaged, err)
}

// Definitions lists what is deployed, by id, then in order of deployment.
func (e *Engine) Definitions(ctx context.Context) ([]store.Definition, error) {
	list, err := e.store.ListDefinitions(ctx)
	return list, e.withoutDamage(ctx, err)
}
