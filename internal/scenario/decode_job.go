package scenario

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// What the status of a job may hold, as a server takes it.
const (
	mostProgress = 100
	mostMessage  = 1024
)

// takes reads what actors of a job send. They come in the order in which they are
// listed, so their times never go back.
func (d *decoder) takes(items []*dialect.Node, clock time.Time) []Take {
	var out []Take
	var last calendar.Duration
	for _, item := range items {
		f := d.Fields(item, "a take")
		if f == nil {
			continue
		}
		t := Take{At: item.Span(), After: last}
		if at := f.Get("at"); at != nil {
			t.After = d.duration(at)
			if t.After.AddTo(clock).Before(last.AddTo(clock)) {
				d.Errorf(at, codeValue, "the take before this one comes later, at %s", last).
					WithHint("list takes in the order in which they come")
			}
		}
		d.horizon(item, "take", t.After.AddTo(clock))
		last = t.After
		t.Client = f.OptionalName("client").Literal()
		t.Actor = d.OneOf(f.Need("actor"), "actor", false, "CLIENT", "WFX")
		t.State = f.Name("state").Literal()
		t.Status = d.takeStatus(f)
		t.Rejected, _ = f.Flag("rejected", false)
		f.Done()
		out = append(out, t)
	}
	return out
}

// takeStatus reads what else a status holds beside its state.
func (d *decoder) takeStatus(f *dialect.Fields) expr.Value {
	status := expr.EmptyObject
	if n := f.Get("progress"); n != nil {
		d.Whole(n, "progress", math.MinInt64, mostProgress)
		status = status.With("progress", n.Value())
	}
	if n := f.Str("message"); n != nil {
		if utf8.RuneCountInString(n.Text) > mostMessage {
			d.Errorf(n, codeValue, "message has more than %d characters", mostMessage)
		}
		status = status.With("message", n.Value())
	}
	if n := f.Typed("context", expr.KindObject); n != nil {
		status = status.With("context", n.Value())
	}
	return status
}
