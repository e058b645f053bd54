package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// eventCost is the cost of one event that one instance waits for, until the instance is over.
type eventCost struct {
	Statements float64 `json:"statements"` // including queries
	Rows       float64 `json:"rows"`       // returned by queries
	Pages      float64 `json:"pages"`      // read, from memory or not
	Written    float64 `json:"written"`    // pages written
}

// eventsMeasured is the number of events whose mean cost is taken.
const eventsMeasured = 100

// costOfEvents sends events to instances that are far apart in the file, one at a time, on an engine
// that nothing else polls, so that the figures do not depend on races. Of the n instances, those
// with an even number wait for events.
func costOfEvents(ctx context.Context, db database, e *engine.Engine, n int) (eventCost, error) {
	if _, err := e.Poll(ctx); err != nil {
		return eventCost{}, err
	}
	pages, err := db.Traffic(ctx)
	if err != nil {
		return eventCost{}, err
	}
	count := db.Counters()
	for k := range eventsMeasured {
		i := 2 * (k * (n / 2 / eventsMeasured))
		if err := wake(ctx, e, i); err != nil {
			return eventCost{}, err
		}
		if _, err := e.Poll(ctx); err != nil {
			return eventCost{}, err
		}
	}
	done := db.Counters()
	after, err := db.Traffic(ctx)
	if err != nil {
		return eventCost{}, err
	}
	for k := range eventsMeasured {
		row, err := e.Get(ctx, keyOf(2*(k*(n/2/eventsMeasured))))
		if err != nil || row.Status != "completed" {
			return eventCost{}, fmt.Errorf("instance %s is %s: %w", row.ID, row.Status, err)
		}
	}
	mean := func(n int64) float64 { return float64(n) / eventsMeasured }
	return eventCost{
		Statements: mean(done.Statements + done.Queries - count.Statements - count.Queries), Rows: mean(done.Rows - count.Rows),
		Pages: mean(after.Seen - pages.Seen), Written: mean(after.Written - pages.Written),
	}, nil
}

// wake sends the event that the i-th instance waits for.
func wake(ctx context.Context, e *engine.Engine, i int) error {
	sent, err := e.Send(ctx, wakeUpCall(i))
	if err == nil && (len(sent.Matched) != 1 || sent.Matched[0] != keyOf(i)) {
		err = fmt.Errorf("the event for %s reached %v", keyOf(i), sent.Matched)
	}
	return err
}

// rateOfEvents sends events to as many instances, 128 at a time, and waits for their end. It leaves
// out the instances that costOfEvents used.
func rateOfEvents(ctx context.Context, e *engine.Engine, n, events int) (figure, error) {
	const stride = 7919 // a prime: neighbours in time are far apart in the file
	taken := map[int]bool{}
	for k := range eventsMeasured {
		taken[2*(k*(n/2/eventsMeasured))] = true
	}
	list := make([]int, 0, events)
	for k := 0; k < n/2 && len(list) < events; k++ {
		if i := 2 * (k * stride % (n / 2)); !taken[i] {
			taken[i] = true
			list = append(list, i)
		}
	}
	return batchOf(ctx, 128, len(list), func(ctx context.Context, k int) error {
		if err := wake(ctx, e, list[k]); err != nil {
			return err
		}
		row, err := e.Wait(ctx, keyOf(list[k]))
		if err == nil && row.Status != "completed" {
			err = fmt.Errorf("instance %s is %s", row.ID, row.Status)
		}
		return err
	})
}

// reportWaiting prints what waiting costs among n instances, and among a thousand.
func reportWaiting(ctx context.Context, n int) error {
	fmt.Printf("%10s%12s%14s%12s%14s%12s%10s%10s%10s%12s%9s%10s%14s\n",
		"waiting", "filled in", "exec to ready", "resident", "after events", "statements", "rows", "pages", "written", "events/s", "of rows", "p99", "file")
	for _, n := range []int{1000, n} {
		if err := reportWaitingOnce(ctx, n); err != nil {
			return fmt.Errorf("%d waiting: %w", n, err)
		}
	}
	return nil
}

func reportWaitingOnce(ctx context.Context, n int) error {
	rows, err := batchedRows(ctx, 2*time.Second)
	if err != nil {
		return err
	}
	w, err := measureWaiting(ctx, n)
	if err != nil {
		return err
	}
	fmt.Printf("%10d%12s%14s%12s%14s%12.1f%10.1f%10.1f%10.1f%12.0f%9.3f%10s%14s\n", n, w.filled.Round(time.Millisecond), w.ready.Round(time.Millisecond),
		mebibytes(w.memory.Resident), mebibytes(w.Memory.Peak), w.Cost.Statements, w.Cost.Rows, w.Cost.Pages, w.Cost.Written, w.Rate, w.Rate/rows, short(w.P99), mebibytes(w.file))
	return nil
}

// waitingFigure is what events among many waiting instances cost.
type waitingFigure struct {
	report
	*process
	filled time.Duration
	file   int64 // bytes
}

// measureWaiting makes n instances that wait, and measures events among them, in processes of their own.
func measureWaiting(ctx context.Context, n int) (w waitingFigure, err error) {
	dir, remove, err := workDir()
	if err != nil {
		return w, err
	}
	defer remove()
	began := time.Now()
	if err := killed(ctx, "fill", dir, n, "waiting"); err != nil {
		return w, err
	}
	w.filled = time.Since(began)
	if w.process, err = spawn(ctx, "serve", dir, n, "waiting"); err != nil {
		return w, err
	}
	err = w.result(&w.report)
	w.file = fileBytes(dir)
	return w, err
}

// reportRecover prints how soon a process is ready after its predecessor was killed, with n
// instances that wait for calls, events and timers.
func reportRecover(ctx context.Context, n int) error {
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	began := time.Now()
	if err := killed(ctx, "fill", dir, n, "recover"); err != nil {
		return err
	}
	fmt.Printf("recover   live %d   filled in %s   file %s\n", n, time.Since(began).Round(time.Millisecond), mebibytes(fileBytes(dir)))
	for range 3 {
		c, err := spawn(ctx, "serve", dir, n, "recover")
		if err != nil {
			return err
		}
		fmt.Printf("recover   exec to ready %s   calls made again, at once %d   resident %s\n", c.ready.Round(time.Millisecond), c.calls, mebibytes(c.memory.Resident))
		if err := c.kill(); err != nil {
			return err
		}
	}
	return nil
}

// never is an invoker whose calls end with the process.
func never(ctx context.Context, _ effect.Call) effect.Outcome {
	<-ctx.Done()
	return effect.Outcome{Parked: true}
}
