package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Document is a definition with what it was made of.
type Document struct {
	Program     *ir.Program
	Source      []byte // the text, to be shown again
	Diagnostics []byte // warnings, as JSON
	Path        string // of the text in its bundle
	Bundle      string // the digest of the bundle; "": it is deployed alone
}

// Change is what a deployment does to a definition.
type Change string

// The changes.
const (
	Created    Change = "created"     // the definition is new
	NewVersion Change = "new-version" // the version is new
	Replaced   Change = "replaced"    // the version has other content now
	Restored   Change = "restored"    // an earlier version is the current one again
	Unchanged  Change = "unchanged"
)

// Deployed is a definition that was deployed, or would be.
type Deployed struct {
	Row    store.Definition
	Before store.Definition // what was current before, without its program and text; zero: nothing
	Change Change
}

// Deploy stores a program and makes it the current version of its definition. To
// deploy the same again changes nothing.
func (e *Engine) Deploy(ctx context.Context, p *ir.Program) error {
	_, _, err := e.DeployDocument(ctx, Document{Program: p})
	return err
}

// DeployDocument is Deploy for a definition whose text is kept. It returns the stored
// row and whether this content is new under its id and version.
func (e *Engine) DeployDocument(ctx context.Context, d Document) (row store.Definition, created bool, err error) {
	out, err := e.DeployDocuments(ctx, []Document{d})
	if err != nil {
		return store.Definition{}, false, err
	}
	change := out[0].Change
	return out[0].Row, change != Unchanged && change != Restored, nil
}

// DeployDocuments deploys definitions of different ids: all of them or none.
func (e *Engine) DeployDocuments(ctx context.Context, ds []Document) ([]Deployed, error) {
	rows, err := e.newDefinitions(ds)
	if err != nil {
		return nil, err
	}
	if _, err := e.onlyPlainIDs(ctx); err != nil {
		return nil, err
	}
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	out, err := e.compare(ctx, rows)
	if err != nil {
		return nil, err
	}
	stored, err := e.store.PutDefinitions(ctx, rows, e.cfg.Redeploy)
	if conflict, ok := errors.AsType[*store.ContentError](err); ok {
		return nil, &VersionConflictError{conflict.ID, conflict.Version}
	}
	if err != nil {
		return nil, fmt.Errorf("deploy %s: %w", rows[0].ID, err)
	}
	adopted := make([]*definition, len(stored))
	for i, row := range stored {
		out[i].Row = row
		if adopted[i], err = e.define(row); err != nil { // again: the time of deployment may be an earlier one
			return nil, fmt.Errorf("deploy %s: %w", row.ID, err)
		}
	}
	e.adopt(adopted...)
	e.wakeUp()
	return out, nil
}

// CheckDocuments says what DeployDocuments would, and stores nothing.
func (e *Engine) CheckDocuments(ctx context.Context, ds []Document) ([]Deployed, error) {
	rows, err := e.newDefinitions(ds)
	if err != nil {
		return nil, err
	}
	return e.compare(ctx, rows)
}

// newDefinitions makes the rows of definitions, and sees that they can run.
func (e *Engine) newDefinitions(ds []Document) ([]store.Deployment, error) {
	rows := make([]store.Deployment, len(ds))
	for i, d := range ds {
		row, err := e.newDefinition(d)
		if err != nil {
			return nil, err
		}
		rows[i] = store.Deployment{Definition: row}
		if rows[i].Schedule, err = e.firstFire(d.Program, row); err != nil {
			return nil, fmt.Errorf("deploy %s: %w", row.ID, err)
		}
	}
	return rows, nil
}

// newDefinition makes the row of a definition, and sees that it can run.
func (e *Engine) newDefinition(d Document) (store.Definition, error) {
	p := d.Program
	text, err := ir.Encode(p)
	if err != nil {
		return store.Definition{}, fmt.Errorf("deploy %s: %w", p.ID, err)
	}
	row := store.Definition{
		ID: p.ID, Version: p.Version, Name: p.Name, Dialect: p.Dialect, Path: d.Path, Bundle: d.Bundle,
		Digest: contentKey(p, text), Program: text, Source: d.Source, Diagnostics: d.Diagnostics, Deployed: e.now(),
	}
	if err := row.CheckText(); err != nil {
		return store.Definition{}, err
	}
	if _, err := e.define(row); err != nil {
		return store.Definition{}, fmt.Errorf("deploy %s: %w", p.ID, err)
	}
	return row, nil
}

// compare compares definitions with those that are deployed. A damaged one counts as missing: deploying it again
// repairs it. The error has a *VersionConflictError for each that has other content under its version.
func (e *Engine) compare(ctx context.Context, rows []store.Deployment) ([]Deployed, error) {
	out := make([]Deployed, len(rows))
	var conflicts []error
	for i, d := range rows {
		row := d.Definition
		known, there, err := e.deployed(ctx, row.ID, row.Version)
		if err != nil {
			return nil, err
		}
		before, any, err := e.deployed(ctx, row.ID, "")
		if err != nil {
			return nil, err
		}
		out[i] = Deployed{Row: row, Before: before}
		switch {
		case !any:
			out[i].Change = Created
		case !there:
			out[i].Change = NewVersion
		case known.Digest != row.Digest:
			out[i].Change = Replaced
			if !e.cfg.Redeploy {
				conflicts = append(conflicts, &VersionConflictError{row.ID, row.Version})
			}
		case !known.Current:
			out[i].Row, out[i].Change = known, Restored
		default:
			out[i].Row, out[i].Change = known, Unchanged
		}
	}
	return out, errors.Join(conflicts...)
}

// deployed finds a definition by alias, if it is there and can be read.
func (e *Engine) deployed(ctx context.Context, id, version string) (row store.Definition, ok bool, err error) {
	row, err = e.store.Definition(ctx, id, version)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		return store.Definition{}, false, nil
	case err != nil:
		return row, false, fmt.Errorf("deploy %s: %w", id, err)
	}
	row.Program, row.Source = nil, nil // those of a whole bundle would take much memory
	return row, true, nil
}
