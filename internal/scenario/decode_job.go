package scenario

import (
	"time"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// What the status of a job may hold, as a server takes it.
const (
	mostProgress = 100
	mostMessage  = 1024
)

// takes reads what actors of a job send. They come in the order in which they are
// listed, so their times never go back.
func (d *decoder) takes(n *dialect.Node, clock time.Time) []Take {
	var out []Take
	for _, item := range d.list(n, "takes") {
		const what = "a take"
		t := Take{At: item.Span()}
		if !d.object(item, what, "at", "client", "actor", "state", "progress", "message", "context", "rejected") {
			continue
		}
		if len(out) > 0 {
			t.After = out[len(out)-1].After
		}
		if at := item.Get("at"); at != nil {
			before := t.After
			t.After = d.duration(at, "at")
			if t.After.AddTo(clock).Before(before.AddTo(clock)) {
				d.report.Errorf(at, codeValue, "the take before this one comes later, at %s", before).
					WithHint("takes are listed in the order in which they come")
			}
		}
		if at := t.After.AddTo(clock); !Representable(at) {
			d.report.Errorf(item, codeValue, "the take comes at %s, beyond the year 2261 (limit timer-horizon)", at.Format(time.RFC3339))
		}
		if client := item.Get("client"); client != nil {
			t.Client = d.text(client, "client")
		}
		if actor := d.need(item, "actor", what); actor != nil {
			t.Actor = d.oneOf(actor, "actor", []string{"CLIENT", "WFX"})
		}
		if state := d.need(item, "state", what); state != nil {
			t.State = d.text(state, "state")
		}
		if rejected := item.Get("rejected"); rejected != nil && d.kind(rejected, expr.KindBool, "rejected") {
			t.Rejected, _ = rejected.Bool()
		}
		t.Status = d.takeStatus(item)
		out = append(out, t)
	}
	return out
}

// takeStatus reads what else a status holds beside its state.
func (d *decoder) takeStatus(item *dialect.Node) expr.Value {
	var status []expr.Member
	if n := item.Get("progress"); n != nil {
		if i, ok := n.Int(); !ok || i > mostProgress {
			d.report.Errorf(n, codeKind, "progress must be a whole number of at most %d", mostProgress)
		}
		status = append(status, expr.Member{Key: "progress", Value: n.Value()})
	}
	if n := item.Get("message"); n != nil && d.kind(n, expr.KindString, "message") {
		if utf8.RuneCountInString(n.Text) > mostMessage {
			d.report.Errorf(n, codeValue, "message has more than %d characters", mostMessage)
		}
		status = append(status, expr.Member{Key: "message", Value: n.Value()})
	}
	if n := item.Get("context"); n != nil && d.kind(n, expr.KindObject, "context") {
		status = append(status, expr.Member{Key: "context", Value: n.Value()})
	}
	return expr.Object(status...)
}
