package dialect

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// metaSchedule begins the keys of metadata that say how the schedule of a definition fires.
const metaSchedule = metaPrefix + "schedule."

// The rules, and what each may say; window is a duration.
var (
	scheduleKeys = []string{metaSchedule + "overlap", metaSchedule + "catch-up", metaSchedule + "window"}
	overlaps     = []string{"allow", "skip", "queue"}
	catchUps     = []string{"latest", "all", "none"}
)

// scheduleRules reads the rules of the schedule in the metadata of a definition into its program. p is nil where that
// has errors.
func scheduleRules(r *Reporter, root *Node, p *ir.Program) {
	metadata := root.Get("metadata")
	if document := root.Get("document"); document != nil {
		metadata = document.Get("metadata")
	}
	if !metadata.Is(expr.KindObject) {
		return
	}
	var rules ir.ScheduleRules
	for _, m := range metadata.Members {
		rule, ours := strings.CutPrefix(m.Name(), metaSchedule)
		if !ours {
			continue
		}
		switch rule {
		case "overlap":
			rules.Overlap = scheduleRule(r, m, overlaps)
		case "catch-up":
			rules.CatchUp = scheduleRule(r, m, catchUps)
		case "window":
			if _, err := calendar.ParseWindow(m.Text); m.Is(expr.KindString) && err == nil {
				rules.Window = m.Text
			} else {
				r.Errorf(m, CodeSchedule, "%s must be a duration from PT1S to P366D", m.Name())
			}
		default:
			r.Warnf(m, CodeSchedule, "%q is not known, and ignored", m.Name()).
				WithHint("the rules are %s", strings.Join(scheduleKeys, ", ")).DidYouMean(m.Name(), scheduleKeys)
			continue
		}
		if p != nil {
			checkRule(r, m, p, rules)
		}
	}
	if p != nil && p.Start.Schedule != nil {
		p.Start.Schedule.Rules = rules
	}
}

func scheduleRule(r *Reporter, m *Node, words []string) string {
	if !m.Is(expr.KindString) || !slices.Contains(words, m.Text) {
		r.Errorf(m, CodeSchedule, "%s must be one of %s", m.Name(), strings.Join(words, ", ")).DidYouMean(m.Text, words)
		return ""
	}
	return m.Text
}

// checkRule reports a rule that the schedule of the program does not have.
func checkRule(r *Reporter, m *Node, p *ir.Program, rules ir.ScheduleRules) {
	overlap := m.Name() == metaSchedule+"overlap" && rules.Overlap != "" && rules.Overlap != "allow"
	switch s := p.Start.Schedule; {
	case s == nil || s.Cron == "" && !s.Every.Set && !s.After.Set:
		r.Warnf(m, CodeSchedule, "%s is ignored: the definition has no schedule that starts instances", m.Name())
	case overlap && len(p.Start.Events) > 0:
		r.Errorf(m, CodeSchedule, "%s can only be allow: the fire times send events, and other events may start instances too", m.Name())
	case overlap && s.After.Set:
		r.Errorf(m, CodeSchedule, "%s can only be allow: each instance starts after the end of the one before", m.Name())
	}
}
