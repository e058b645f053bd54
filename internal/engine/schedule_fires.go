package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Outcome is what became of a fire time.
type Outcome string

// The outcomes.
const (
	FireStarted   Outcome = "started"
	FireTriggered Outcome = "triggered" // by an operator, and at no fire time
	FireQueued    Outcome = "queued"    // it waits for the end of another instance
	FireSkipped   Outcome = "skipped"   // an instance was not over
	FireMissed    Outcome = "missed"    // no engine was running
	FirePaused    Outcome = "paused"    // the schedule, or the definition, was paused
)

// Fire is a fire time of a schedule that is over.
type Fire struct {
	At      core.Time   `json:"t"`
	Until   core.Time   `json:"u,omitempty"` // not 0: the fire times from At until then, without it
	Outcome Outcome     `json:"o"`
	Status  core.Status `json:"s,omitempty"` // of the instance, once it is known to be over
	Gone    bool        `json:"g,omitempty"` // the instance was deleted before its end was known
	// Instance is the id of the instance; "": there is none, events started it, or a version before this one did.
	Instance string `json:"i,omitempty"`
}

// keptFires is how many fire times are kept of a schedule ("schedule-fires").
const keptFires = 20

// fires are the last fire times of a schedule, oldest first.
type fires []Fire

// readFires reads what the store has. What cannot be read is left out: nothing depends on it but what people see, and
// whether instances overlap. A fire time that waited when another version was deployed waits no more.
func readFires(row store.Schedule) (out fires) {
	_ = json.Unmarshal([]byte(row.Fires), &out)
	for i := range out {
		if out[i].Outcome == FireQueued && out[i].At != row.Next {
			out[i].Outcome = FireSkipped
		}
	}
	return out
}

func (f fires) text() string {
	text, _ := json.Marshal(f) // there is nothing in it that cannot be written
	return string(text)
}

// with adds one, in the place of what is there of the same fire time. A trigger is at no fire time.
func (f fires) with(x Fire) fires {
	f = slices.DeleteFunc(slices.Clone(f), func(o Fire) bool {
		return o.At == x.At && (o.Outcome == x.Outcome || o.Outcome == FireQueued && x.Outcome != FireTriggered)
	})
	f = append(f, x)
	for len(f) > keptFires {
		i := f.expendable()
		f = slices.Delete(f, i, i+1)
	}
	return f
}

// expendable is the index of the entry to give up. Overlaps are found by the entries, so one whose instance is not known
// to be over stays while there is another to give up instead, and those of fire times outlast those of triggers.
// The newest entry, and the fire time that waits, stay always.
func (f fires) expendable() int {
	first := func(ok func(Fire) bool) int { return slices.IndexFunc(f[:len(f)-1], ok) }
	if i := first(func(x Fire) bool { return x.Outcome != FireQueued && !x.open() }); i >= 0 {
		return i
	}
	if i := first(func(x Fire) bool { return x.Outcome == FireTriggered }); i >= 0 {
		return i
	}
	return max(0, first(func(x Fire) bool { return x.Outcome != FireQueued }))
}

// open reports whether an instance was started that is not known to be over.
func (x Fire) open() bool {
	return (x.Outcome == FireStarted || x.Outcome == FireTriggered) && x.Status == "" && !x.Gone
}

// queued reports whether a fire time waits for the end of an instance.
func (f fires) queued(at core.Time) bool {
	return slices.ContainsFunc(f, func(x Fire) bool { return x.At == at && x.Outcome == FireQueued })
}

// instanceOf is the instance of a fire time; "": there is none.
func (x Fire) instanceOf(d *definition) string {
	switch {
	case x.Instance != "" || d.startsByEvents():
	case x.Outcome == FireStarted:
		return scheduledID(d.row.ID, x.At)
	case x.Outcome == FireTriggered:
		return deriveID("trigger", d.row.ID, x.At.String())
	}
	return x.Instance
}

// startsByEvents reports whether the schedule sends events, which start instances.
func (d *definition) startsByEvents() bool {
	return len(d.prog.Start.Events) > 0 && !d.prog.Start.AsInput
}

// settle fills in how the instances of the last fire times ended, newest first, at most of so many that are not
// known to be over. It returns the newest that runs.
func (e *Engine) settle(ctx context.Context, d *definition, f fires, most int) (running string, err error) {
	for i := len(f) - 1; i >= 0 && most > 0; i-- {
		id := f[i].instanceOf(d)
		if id == "" || !f[i].open() {
			continue
		}
		most--
		row, err := e.store.Instance(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			f[i].Gone = true
		case err != nil:
			return "", err
		case row.Status.Final():
			f[i].Status = row.Status
		case running == "":
			running = id
		}
	}
	return running, nil
}
