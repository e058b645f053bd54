package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/metric"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Quotas bound how many instances are open: created, and not over yet. 0: no limit.
type Quotas struct {
	Instances           int64 // quota-instances: in the namespace
	DefinitionInstances int64 // quota-definition-instances: of one definition, in all of its versions
	TreeInstances       int64 // quota-tree-instances: started by one instance, directly or through others
}

// DefaultQuotas are those of a server.
var DefaultQuotas = Quotas{Instances: 2_000_000, DefinitionInstances: 1_000_000, TreeInstances: 100_000}

// quotaTree is the name of the quota of one tree.
const quotaTree = "quota-tree-instances"

// quotaPause is how often a node reads how many instances are open. In between it knows of those that it
// created or ended itself.
const quotaPause = 5 * time.Second

// QuotaError refuses an instance: too many are open.
type QuotaError struct {
	Limit      string // the name of the quota
	Definition string // "": all of the namespace, or of a tree
	Max        int64
}

func (e *QuotaError) Error() string {
	of := ""
	switch {
	case e.Definition != "":
		of = fmt.Sprintf(" of definition %q", e.Definition)
	case e.Limit == quotaTree:
		of = " that one instance started, directly or through others,"
	}
	return fmt.Sprintf("%d instances%s are open (limit %s)", e.Max, of, e.Limit)
}

// Retry is how long to wait before another attempt.
func (e *QuotaError) Retry() time.Duration { return quotaPause }

// quotas count the open instances. A check costs no statement, so the counts of several nodes together may
// exceed a quota by what all of them start within quotaPause.
type quotas struct {
	Quotas

	mu   sync.Mutex
	all  openCount
	open map[string]openCount // by definition
	// trees are the large ones, with half of their quota or more. Of others nothing is known: see checkTree.
	trees map[string]openCount

	ofNamespace, ofDefinition, ofTree metric.Counter // refusals
}

// openCount is a number of open instances: what the store had, and what changed here since.
type openCount struct{ stored, since int64 }

func (c openCount) total() int64 { return c.stored + c.since }

// check refuses an instance of a definition that would exceed a quota; more are about to be created as well.
func (q *quotas) check(definition string, more int) *QuotaError {
	if q.Quotas == (Quotas{}) {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.DefinitionInstances > 0 && q.open[definition].total()+int64(more) >= q.DefinitionInstances:
		q.ofDefinition.Add(1)
		return &QuotaError{"quota-definition-instances", definition, q.DefinitionInstances}
	case q.Instances > 0 && q.all.total()+int64(more) >= q.Instances:
		q.ofNamespace.Add(1)
		return &QuotaError{"quota-instances", "", q.Instances}
	}
	return nil
}

// checkTree refuses an instance with an id that would exceed the quota of its tree; more are about to be created in it
// as well. Some instances, chosen by their id, have their tree counted in the store: so many that a tree does not get
// from half of its quota to all of it without.
func (q *quotas) checkTree(ctx context.Context, s store.Store, tree, id string, more int) (*QuotaError, error) {
	if q.TreeInstances == 0 {
		return nil, nil
	}
	q.mu.Lock()
	c, large := q.trees[tree]
	q.mu.Unlock()
	if !large {
		if every := max(1, uint64(q.TreeInstances)/128); seedOf(id)%every != 0 {
			return nil, nil
		}
		n, err := s.Count(ctx, store.Query{Tree: tree})
		if err != nil {
			return nil, fmt.Errorf("count the instances of a tree: %w", err)
		}
		c = openCount{stored: n}
		if n >= q.TreeInstances/2 {
			q.mu.Lock()
			if q.trees == nil {
				q.trees = map[string]openCount{}
			}
			q.trees[tree] = c
			q.mu.Unlock()
		}
	}
	if c.total()+int64(more) >= q.TreeInstances {
		q.ofTree.Add(1)
		return &QuotaError{quotaTree, "", q.TreeInstances}, nil
	}
	return nil, nil
}

// addTree counts instances of a tree, if it is large.
func (q *quotas) addTree(tree string, n int64) {
	if tree == "" || q.TreeInstances == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if c, ok := q.trees[tree]; ok {
		c.since += n
		q.trees[tree] = c
	}
}

// readTrees counts the large trees anew, and forgets those that are large no more.
func (q *quotas) readTrees(ctx context.Context, s store.Store) error {
	q.mu.Lock()
	before := maps.Clone(q.trees)
	q.mu.Unlock()
	for tree, had := range before {
		n, err := s.Count(ctx, store.Query{Tree: tree})
		if err != nil {
			return fmt.Errorf("count the instances of a tree: %w", err)
		}
		q.mu.Lock()
		if n < q.TreeInstances/2 {
			delete(q.trees, tree)
		} else {
			q.trees[tree] = openCount{n, q.trees[tree].since - had.since}
		}
		q.mu.Unlock()
	}
	return nil
}

// add counts instances of a definition that were created, or, where n is negative, that ended.
func (q *quotas) add(definition string, n int64) {
	if q.Quotas == (Quotas{}) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = map[string]openCount{}
	}
	q.all.since += n
	c := q.open[definition]
	c.since += n
	q.open[definition] = c
}

// committed counts what a commit created and ended; created: the instance itself is new.
func (q *quotas) committed(c *store.Commit, created bool) {
	if created {
		q.add(c.Instance.Definition, 1)
	}
	q.created(c.Children)
	for i := range c.Records {
		if c.Records[i].Type == core.RecFinished {
			q.add(c.Instance.Definition, -1)
			q.addTree(c.Instance.Tree, -1)
		}
	}
}

// created counts new instances.
func (q *quotas) created(list []store.NewInstance) {
	for i := range list {
		q.add(list[i].Instance.Definition, 1)
		q.addTree(list[i].Instance.Tree, 1)
	}
}

// read counts anew from what the store has. What changes here while the store counts is in both for a while.
func (q *quotas) read(ctx context.Context, from func(context.Context) ([]store.Stat, error)) error {
	q.mu.Lock()
	known := q.all.since
	before := make(map[string]int64, len(q.open))
	for id, c := range q.open {
		before[id] = c.since
	}
	q.mu.Unlock()
	stats, err := from(ctx)
	if err != nil {
		return fmt.Errorf("count open instances: %w", err)
	}
	open, all := map[string]openCount{}, openCount{}
	for _, s := range stats {
		if !s.Status.Final() {
			all.stored += s.Count
			c := open[s.Definition]
			c.stored += s.Count
			open[s.Definition] = c
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all.since = q.all.since - known
	for id, c := range q.open {
		if since := c.since - before[id]; since != 0 {
			open[id] = openCount{open[id].stored, since}
		}
	}
	q.all, q.open = all, open
	return nil
}

// keepQuotas reads how many instances are open, again and again until ctx ends.
func (e *Engine) keepQuotas(ctx context.Context) {
	for ctx.Err() == nil {
		if err := errors.Join(e.quotas.read(ctx, e.store.Stats), e.quotas.readTrees(ctx, e.store)); err != nil && ctx.Err() == nil {
			e.report(err)
		}
		alarm, stop := e.cfg.Clock.After(quotaPause)
		select {
		case <-ctx.Done():
		case <-alarm:
		}
		stop()
	}
}

// checkQuota refuses an instance of a definition that would exceed a quota.
func (e *Engine) checkQuota(definition string) error {
	if over := e.quotas.check(definition, 0); over != nil {
		return over
	}
	return nil
}

// QuotaRefusals calls f with each quota and how many instances it refused here.
func (e *Engine) QuotaRefusals(f func(quota string, n int64)) {
	f("quota-instances", e.quotas.ofNamespace.Load())
	f("quota-definition-instances", e.quotas.ofDefinition.Load())
	f(quotaTree, e.quotas.ofTree.Load())
}
