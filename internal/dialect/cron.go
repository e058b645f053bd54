package dialect

import "github.com/lockstep-workflows/lockstep/internal/calendar"

// Cron checks the cron expression of a schedule, which has the code where it is malformed, and warns of one that
// never fires. It reports whether the expression can be used.
func (r *Reporter) Cron(n *Node, code string) bool {
	cron, err := calendar.ParseCron(n.Text)
	if err != nil {
		r.Malformed(n, 0, code, "cron", err)
		return false
	}
	if !cron.Fires() {
		r.Warnf(n, CodeNoFire, "cron %q never fires: no date matches it", n.Text).
			WithHint("change the day, the month or the year; in the Quartz form L is the last day of the month, as in \"0 0 0 L 2 ?\"")
	}
	return true
}
