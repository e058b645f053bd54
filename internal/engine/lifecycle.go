package engine

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Lifecycle turns the records of a program's instances into the lifecycle events of Open Workflow (dsl.md,
// Lifecycle Events). Each record stands for itself: what came before need not be known.
type Lifecycle struct {
	name, namespace string
	refs            map[taskPlace]string // JSON pointers of tasks
	listens         map[taskPlace]bool   // those that listen for events
}

// taskPlace is how records name a task: names alone are unique in a list only.
type taskPlace struct {
	name string
	pos  ir.Pos
}

// NewLifecycle prepares a program. It returns nil if the program's tasks have no pointers, as in all other
// dialects: there are no events for its instances.
func NewLifecycle(p *ir.Program) *Lifecycle {
	l := &Lifecycle{refs: map[taskPlace]string{}, listens: map[taskPlace]bool{}, namespace: "default", name: p.ID}
	if namespace, name, ok := strings.Cut(p.ID, "."); ok {
		l.namespace, l.name = namespace, name
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		at := taskPlace{n.Name, n.Pos}
		if n.Ref != "" && n.Mark != ir.MarkNone {
			l.refs[at] = n.Ref
		}
		if fan, ok := n.Op.(*ir.Fan); ok && n.Ref != "" && fan.Feed != nil {
			l.listens[at] = true
		}
	}
	if len(l.refs) == 0 {
		return nil
	}
	return l
}

const (
	workflowEvents = "io.serverlessworkflow.workflow."
	taskEvents     = "io.serverlessworkflow.task."
)

// Events are the lifecycle events of records of an instance, in order, without id and source.
func (l *Lifecycle) Events(instance, version string, records []core.Record) (out []event.Event) {
	name := expr.String(l.name + "-" + instance + "." + l.namespace)
	add := func(kind, what string, r *core.Record, at core.Time, members ...expr.Member) {
		when := strings.TrimPrefix(what, "correlation-") + "At"
		out = append(out, event.Event{
			Type: kind + what + ".v1", Time: r.Time.String(), Subject: instance, HasData: true,
			Data: expr.Object(append(members, expr.Member{Key: when, Value: expr.String(at.String())})...),
		})
	}
	workflow := func(what string, r *core.Record, more ...expr.Member) {
		add(workflowEvents, what, r, r.Time, append(more, expr.Member{Key: "name", Value: name})...)
	}
	task := func(what string, r *core.Record, at core.Time, more ...expr.Member) {
		if ref, ok := l.refs[taskPlace{r.Node, r.Pos}]; ok {
			add(taskEvents, what, r, at, append(more, expr.Member{Key: "workflow", Value: name}, expr.Member{Key: "task", Value: expr.String(ref)})...)
		}
	}
	for i := range records {
		r := &records[i]
		switch r.Type {
		case core.RecStarted:
			workflow("started", r, expr.Member{Key: "definition", Value: expr.Object(
				expr.Member{Key: "name", Value: expr.String(l.name)},
				expr.Member{Key: "namespace", Value: expr.String(l.namespace)},
				expr.Member{Key: "version", Value: expr.String(version)},
			)})
		case core.RecEntered:
			task("created", r, r.Time)
			task("started", r, r.Time)
		case core.RecLeft:
			task("completed", r, r.Time)
		case core.RecRetrying:
			task("retried", r, r.At)
		case core.RecWaiting:
			if l.listens[taskPlace{r.Node, r.Pos}] {
				workflow("correlation-started", r)
			}
		case core.RecTask:
			switch r.Name {
			case core.TaskCorrelated:
				workflow("correlation-completed", r, correlationKeys(r)...)
			case core.TaskFaulted:
				task(r.Name, r, r.Time, expr.Member{Key: "error", Value: core.ErrorObject(r.Fault)})
			default:
				task(r.Name, r, r.Time)
			}
		case core.RecControl:
			switch core.Verb(r.Name) {
			case core.VerbSuspend:
				workflow("suspended", r)
			case core.VerbResume, core.VerbRetry, core.VerbSkip: // the last two go on after a fault
				workflow("resumed", r)
			}
		case core.RecFinished:
			switch r.Status {
			case core.Completed:
				workflow("completed", r)
			case core.Failed:
				workflow("faulted", r, expr.Member{Key: "error", Value: core.ErrorObject(r.Fault)})
			default:
				workflow("cancelled", r)
			}
		}
	}
	return out
}

// correlationKeys are those of a listen, without what tells them from the attributes of events.
func correlationKeys(r *core.Record) []expr.Member {
	var keys []expr.Member
	for _, m := range r.Data.Members() {
		keys = append(keys, expr.Member{Key: strings.TrimPrefix(m.Key, "correlate "), Value: m.Value})
	}
	if len(keys) == 0 {
		return nil
	}
	return []expr.Member{{Key: "correlationKeys", Value: expr.Object(keys...)}}
}
