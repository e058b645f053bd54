package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// TestAlarmsAreShared: requests whose time is up at nearly the same time share an alarm, which never rings early. An alarm that
// rang, or that the server's end made useless, is forgotten.
func TestAlarmsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping := make(chan struct{})
		a := alarms{clock: engine.RealClock{}, stopping: stopping, due: map[int64]chan time.Time{}}
		began := time.Now()
		first := a.after(time.Second - time.Millisecond)
		if second := a.after(time.Second - 2*time.Millisecond); second != first || len(a.due) != 1 {
			t.Errorf("%d alarms", len(a.due))
		}
		if later := a.after(2 * time.Second); later == first {
			t.Error("a second later it is the same alarm")
		}
		<-first
		if took := time.Since(began); took < time.Second-time.Millisecond || took > time.Second+alarmSpan {
			t.Errorf("it rang after %s", took)
		}
		synctest.Wait()
		if len(a.due) != 1 {
			t.Errorf("%d alarms are left, of one", len(a.due))
		}
		close(stopping)
		synctest.Wait()
		if len(a.due) != 0 {
			t.Errorf("%d alarms are left after the end", len(a.due))
		}
	})
}
