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

// quotas count the open instances. What a fold decides to create is reserved at once, so that neither one commit nor
// several at the same moment exceed a quota on one node; the counts of several nodes together may exceed it by what
// all of them start within quotaPause.
type quotas struct {
	Quotas

	mu   sync.Mutex
	all  openCount
	open map[string]openCount // by definition
	// trees are those in which this node started something since the store was last read, and the large ones.
	trees map[string]*treeCount

	ofNamespace, ofDefinition, ofTree metric.Counter // refusals
}

// openCount is a number of open instances: what the store had, what changed here since, and what is reserved for
// commits under way.
type openCount struct{ stored, since, reserved int64 }

func (c openCount) total() int64 { return c.stored + c.since + c.reserved }

// treeCount counts the instances of a tree. What ends while the store counts is not subtracted: it is unknown
// whether the store still counted it, and the next count is right.
type treeCount struct {
	openCount
	known    bool // stored was read
	counting int  // how many read it now
}

// check refuses an instance of a definition that would exceed a quota.
func (q *quotas) check(definition string) *QuotaError {
	if q.Quotas == (Quotas{}) {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.exceeded(definition, 1)
}

// exceeded is the quota that so many further instances of a definition exceed. q.mu is locked.
func (q *quotas) exceeded(definition string, more int64) *QuotaError {
	switch {
	case q.DefinitionInstances > 0 && q.open[definition].total()+more > q.DefinitionInstances:
		q.ofDefinition.Add(1)
		return &QuotaError{"quota-definition-instances", definition, q.DefinitionInstances}
	case q.Instances > 0 && q.all.total()+more > q.Instances:
		q.ofNamespace.Add(1)
		return &QuotaError{"quota-instances", "", q.Instances}
	}
	return nil
}

// reserve counts an instance that a commit will create in a tree, or refuses it. The store counts a tree in which
// this node has started nothing lately, unless it is empty.
func (q *quotas) reserve(ctx context.Context, s store.Store, row *store.Instance, empty bool) (*QuotaError, error) {
	if q.Quotas == (Quotas{}) {
		return nil, nil
	}
	q.reserved(row, 1)
	if err := q.know(ctx, s, row.Tree, empty); err != nil {
		q.reserved(row, -1)
		return nil, err
	}
	q.mu.Lock()
	over := q.exceeded(row.Definition, 0)
	if t := q.trees[row.Tree]; over == nil && t != nil && t.total() > q.TreeInstances {
		q.ofTree.Add(1)
		over = &QuotaError{quotaTree, "", q.TreeInstances}
	}
	q.mu.Unlock()
	if over != nil {
		q.reserved(row, -1)
	}
	return over, nil
}

// reserved counts an instance that a commit will create, or, where n is -1, that it did create or will not.
func (q *quotas) reserved(row *store.Instance, n int64) {
	if q.Quotas == (Quotas{}) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all.reserved += n
	q.change(row.Definition, func(c *openCount) { c.reserved += n })
	if q.TreeInstances == 0 {
		return
	}
	t := q.trees[row.Tree]
	if t == nil {
		if q.trees == nil {
			q.trees = map[string]*treeCount{}
		}
		t = &treeCount{}
		q.trees[row.Tree] = t
	}
	t.reserved += n
}

// change changes the count of a definition. q.mu is locked.
func (q *quotas) change(definition string, by func(*openCount)) {
	if q.open == nil {
		q.open = map[string]openCount{}
	}
	c := q.open[definition]
	by(&c)
	q.open[definition] = c
}

// know counts a tree in the store if this node does not know how large it is.
func (q *quotas) know(ctx context.Context, s store.Store, tree string, empty bool) error {
	if q.TreeInstances == 0 {
		return nil
	}
	q.mu.Lock()
	t := q.trees[tree]
	t.known = t.known || empty
	known := t.known
	q.mu.Unlock()
	if known {
		return nil
	}
	return q.count(ctx, s, tree, t)
}

// count counts a tree in the store.
func (q *quotas) count(ctx context.Context, s store.Store, tree string, t *treeCount) error {
	q.mu.Lock()
	t.counting++
	had := t.since
	known := t.known
	q.mu.Unlock()
	n, err := s.Count(ctx, store.Query{Tree: tree})
	q.mu.Lock()
	defer q.mu.Unlock()
	t.counting--
	if err != nil {
		return fmt.Errorf("count the instances of a tree: %w", err)
	}
	if t.known == known { // else another caller has counted it
		t.stored, t.since, t.known = n, t.since-had, true
	}
	return nil
}

// addTree counts instances of a tree, if it is known.
func (q *quotas) addTree(tree string, n int64) {
	if tree == "" || q.TreeInstances == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t := q.trees[tree]; t != nil && (n > 0 || t.counting == 0) {
		t.since += n
	}
}

// readTrees counts the large trees anew, those with half of their quota or more, and forgets the others.
func (q *quotas) readTrees(ctx context.Context, s store.Store) error {
	q.mu.Lock()
	maps.DeleteFunc(q.trees, func(_ string, t *treeCount) bool {
		return t.reserved == 0 && t.counting == 0 && t.total() < q.TreeInstances/2
	})
	trees := maps.Clone(q.trees)
	q.mu.Unlock()
	for tree, t := range trees {
		if err := q.count(ctx, s, tree, t); err != nil {
			return err
		}
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
	q.all.since += n
	q.change(definition, func(c *openCount) { c.since += n })
}

// committed counts what a commit created and ended; created: the instance itself is new.
func (q *quotas) committed(c *store.Commit, created bool) {
	if created {
		q.add(c.Instance.Definition, 1)
	}
	q.created(c.Children)
	q.release(c.Children)
	for i := range c.Records {
		if c.Records[i].Type == core.RecFinished {
			q.add(c.Instance.Definition, -1)
			q.addTree(c.Instance.Tree, -1)
		}
	}
}

// release ends the reservations of instances that a commit created or will not create.
func (q *quotas) release(list []store.NewInstance) {
	for i := range list {
		q.reserved(&list[i].Instance, -1)
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
	all.since, all.reserved = q.all.since-known, q.all.reserved
	for id, c := range q.open {
		if since := c.since - before[id]; since != 0 || c.reserved != 0 {
			open[id] = openCount{open[id].stored, since, c.reserved}
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
	if over := e.quotas.check(definition); over != nil {
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
