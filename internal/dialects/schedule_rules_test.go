package dialects

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestScheduleRules: the metadata of a definition says how its schedule fires, in every version that has schedules.
func TestScheduleRules(t *testing.T) {
	const rules = `{lockstep.schedule.overlap: queue, lockstep.schedule.catch-up: all, lockstep.schedule.window: PT6H, own: 1}`
	for version, text := range map[string]string{
		"0.5": `{id: w, name: w, version: "1", metadata: RULES, states: [{name: S, type: inject, data: {}, start: {kind: scheduled, schedule: {cron: "0 0 * * * *", directInvoke: allow}}, end: {kind: default}}]}`,
		"0.8": `{id: w, name: w, version: "1", specVersion: "0.8", metadata: RULES, start: {stateName: S, schedule: {cron: "0 0 * * * *"}}, states: [{name: S, type: inject, data: {}, end: true}]}`,
		"1.0": `{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0, metadata: RULES}, schedule: {cron: "0 * * * *"}, do: [{a: {set: {b: 1}}}]}`,
	} {
		d, found := All().Compile("w.yaml", []byte("---\n"+strings.ReplaceAll(text, "RULES", rules)), nil, dialect.Options{})
		if d.Program == nil || len(found) > 0 {
			t.Errorf("%s: %v", version, found)
			continue
		}
		if got, want := d.Program.Start.Schedule.Rules, (ir.ScheduleRules{Overlap: "queue", CatchUp: "all", Window: "PT6H"}); got != want {
			t.Errorf("%s: %+v", version, got)
		}
	}
}

// TestBadScheduleRules: what cannot be used is reported at its place.
func TestBadScheduleRules(t *testing.T) {
	const cron = `{cron: "0 * * * *"}`
	for _, c := range []struct{ rule, schedule, want string }{
		{"overlap: skp", cron, `error DEF005 lockstep.schedule.overlap must be one of allow, skip, queue; did you mean "skip"?`},
		{"overlap: 1", cron, "error DEF005 lockstep.schedule.overlap must be one of allow, skip, queue"},
		{"catch-up: never", cron, "error DEF005 lockstep.schedule.catch-up must be one of latest, all, none"},
		{"window: PT0S", cron, "error DEF005 lockstep.schedule.window must be a duration from PT1S to P366D"},
		{"window: P2Y", cron, "error DEF005 lockstep.schedule.window must be a duration from PT1S to P366D"},
		{"overlaps: skip", cron, `warning DEF005 "lockstep.schedule.overlaps" is not known, and ignored; did you mean "lockstep.schedule.overlap"?`},
		{"overlap: skip", "{on: {one: {with: {type: a}}}}", "warning DEF005 lockstep.schedule.overlap is ignored: the definition has no schedule that starts instances"},
		{"overlap: skip", "{after: {hours: 1}}", "error DEF005 lockstep.schedule.overlap can only be allow: each instance starts after the end of the one before"},
		{"overlap: allow", "{after: {hours: 1}}", ""},
	} {
		text := "---\n{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0, metadata: {lockstep.schedule." + c.rule + "}}, schedule: " + c.schedule + ", do: [{a: {set: {b: 1}}}]}"
		d, found := All().Compile("w.yaml", []byte(text), nil, dialect.Options{})
		got := ""
		for _, one := range found {
			got += strings.TrimPrefix(one.String(), one.Pos().String()+" ")
		}
		if got != c.want || (d.Program == nil) != found.HasErrors() {
			t.Errorf("%s, %s: %s, want %s", c.rule, c.schedule, got, c.want)
		}
	}
}
