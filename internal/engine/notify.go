package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Notify is a receiver of notices. A notice is an event that says which instance needs attention, each at least once and
// always with the same id. Those of one instance come in order. Failed sends are repeated as those to a sink. Notices begin with the
// first Run that has the receiver.
type Notify struct {
	Name    string // the same in every process: its position in the feed is stored under it
	Send    event.Sink
	Only    func(*store.Instance) bool // which instances it hears of; nil: all
	Waiting time.Duration              // how long an instance may wait before there is a notice; 0: for ever
}

// Types of notices.
const (
	NoticeFailed      = "lockstep.instance.failed"
	NoticeQuarantined = "lockstep.instance.quarantined"
	NoticeWaiting     = "lockstep.instance.waiting"
)

const (
	// noticeBatch is how many items of the feed are read at a time for notices ("notice-batch").
	noticeBatch = 64
	// maxNoticeDetail is how much of the detail of an error a notice has ("notice-detail").
	maxNoticeDetail = 1024
)

// NoticeFigures tell what became of notices here, by receiver.
func (e *Engine) NoticeFigures() (out []RelayFigures) {
	for i, n := range e.cfg.Notify {
		f := RelayFigures{Name: n.Name}
		for _, r := range e.notices[i] {
			of := e.relayFigures(r)
			f.Sent += of.Sent
			f.Refused += of.Refused
			f.Failed += of.Failed
			f.Behind = max(f.Behind, of.Behind)
		}
		out = append(out, f)
	}
	return out
}

// checkNotify reports receivers that cannot be served.
func checkNotify(cfg *Config) error {
	names := map[string]bool{}
	for _, n := range cfg.Notify {
		switch {
		case names[n.Name]:
			return fmt.Errorf("engine: two receivers of notices are called %q", n.Name)
		case n.Waiting > 0 && cfg.FeedRetention > 0 && cfg.FeedRetention <= n.Waiting:
			return fmt.Errorf("engine: instances that wait for %s cannot be noticed: the feed is kept for %s only", n.Waiting, cfg.FeedRetention)
		}
		names[n.Name] = true
	}
	return nil
}

// relays are all of this engine.
func (e *Engine) relays() (out []*relay) {
	if e.lifecycle != nil {
		out = append(out, e.lifecycle)
	}
	if e.spans != nil {
		out = append(out, e.spans)
	}
	return append(out, slices.Concat(e.notices...)...)
}

// noticeRelays are those of one receiver: one follows the feed, and one comes as much later as an instance may wait.
func (e *Engine) noticeRelays(n *Notify) []*relay {
	out := []*relay{e.noticeRelay(n, "notify "+n.Name, 0, e.failureNotice)}
	if n.Waiting > 0 {
		out = append(out, e.noticeRelay(n, "waiting "+n.Name, n.Waiting, e.waitingNotice))
	}
	return out
}

// noticeOf makes the notice of an item of the feed; nil: there is none.
type noticeOf func(ctx context.Context, n *Notify, item *store.FeedItem) (*event.Event, error)

func (e *Engine) noticeRelay(n *Notify, name string, age time.Duration, of noticeOf) *relay {
	r := &relay{name: name, what: "notice", batch: noticeBatch, age: age, begin: func() {}}
	send := func(ctx context.Context, notice event.Event) error {
		if err := n.Send(ctx, notice); err != nil {
			return fmt.Errorf("webhook %s: %w", n.Name, err)
		}
		return nil
	}
	r.pass = func(ctx context.Context, items []store.FeedItem) (bool, error) {
		queues := map[string][]event.Event{}
		for i := range items {
			notice, err := of(ctx, n, &items[i])
			if err != nil {
				return false, err
			}
			if notice != nil {
				queues[items[i].Instance] = append(queues[items[i].Instance], *notice)
			}
		}
		return len(queues) > 0, e.deliver(ctx, r, send, queues)
	}
	return r
}

// failureNotice is the notice of an instance that failed, or was put into quarantine.
func (e *Engine) failureNotice(ctx context.Context, n *Notify, item *store.FeedItem) (*event.Event, error) {
	at := slices.IndexFunc(item.Records, func(r core.Record) bool {
		return r.Type == core.RecFinished && r.Status == core.Failed ||
			r.Type == core.RecWarning && strings.HasPrefix(r.Text, quarantined)
	})
	if at < 0 {
		return nil, nil
	}
	row, err := e.noticed(ctx, item)
	if err != nil {
		return nil, err
	}
	r := &item.Records[at]
	kind := NoticeFailed
	if r.Type == core.RecWarning {
		kind = NoticeQuarantined
		row.Status = item.Status
	} else { // it may run again by now
		row.Status, row.Fault, row.Ended = core.Failed, r.Fault, r.Time
	}
	return e.notice(n, kind, item, &row), nil
}

// waitingNotice is the notice of an instance that waits, and did not change since the item.
func (e *Engine) waitingNotice(ctx context.Context, n *Notify, item *store.FeedItem) (*event.Event, error) {
	if item.Status != core.Waiting {
		return nil, nil
	}
	row, err := e.store.Instance(ctx, item.Instance)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read instance %s: %w", item.Instance, err)
	case row.Status != core.Waiting:
		return nil, nil
	}
	if row.Updated != item.At { // by a commit that left no record, or by one that did
		last, err := e.store.Records(ctx, row.ID, max(row.Records-1, 0), 1)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return nil, fmt.Errorf("read the history of %s: %w", row.ID, err)
		}
		if len(last) > 0 && last[0].Time > item.At {
			return nil, nil
		}
	}
	return e.notice(n, NoticeWaiting, item, &row), nil
}

// noticed is the row of an instance. Of one that was deleted meanwhile only the item is known.
func (e *Engine) noticed(ctx context.Context, item *store.FeedItem) (store.Instance, error) {
	row, err := e.store.Instance(ctx, item.Instance)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return store.Instance{ID: item.Instance, Definition: item.Definition, Labels: expr.EmptyObject}, nil
	}
	if err != nil {
		return row, fmt.Errorf("read instance %s: %w", item.Instance, err)
	}
	return row, nil
}

// notice is the event of a notice; nil: the receiver does not hear of the instance. It has no data of the instance but
// what an error says.
func (e *Engine) notice(n *Notify, kind string, item *store.FeedItem, row *store.Instance) *event.Event {
	if n.Only != nil && !n.Only(row) {
		return nil
	}
	var members []expr.Member
	text := func(key, value string) {
		if value != "" {
			members = append(members, expr.Member{Key: key, Value: expr.String(value)})
		}
	}
	text("definition", row.Definition)
	text("version", row.Version)
	text("instance", row.ID)
	text("parent", row.Parent)
	text("status", string(row.Status))
	if row.Created != 0 {
		text("createdAt", row.Created.String())
	}
	state := strings.Join(row.Active, ", ")
	if f := row.Fault; f != nil {
		state = cmp.Or(f.Node, state)
		members = append(members, expr.Member{Key: "error", Value: noticeError(f)})
	}
	text("state", state)
	switch kind {
	case NoticeFailed:
		text("endedAt", row.Ended.String())
	case NoticeWaiting:
		text("waitingSince", item.At.String())
	case NoticeQuarantined:
		text("reason", truncate(firstLine(row.Quarantine), maxNoticeDetail))
	}
	return &event.Event{
		ID: fmt.Sprintf("%s/%d/%s", row.ID, item.Pos, kind[strings.LastIndexByte(kind, '.')+1:]), Source: e.lifecycleSource() + row.Definition,
		Type: kind, Subject: row.ID, Time: item.At.String(), DataContentType: "application/json", HasData: true, Data: expr.Object(members...),
	}
}

func noticeError(f *core.Fault) expr.Value {
	members := []expr.Member{{Key: "name", Value: expr.String(f.Name)}}
	for _, m := range [][2]string{{"code", f.Code}, {"type", f.Type}, {"status", f.Status}, {"detail", truncate(f.Detail, maxNoticeDetail)}} {
		if m[1] != "" {
			members = append(members, expr.Member{Key: m[0], Value: expr.String(m[1])})
		}
	}
	return expr.Object(members...)
}

// truncate cuts a text to a number of bytes.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
