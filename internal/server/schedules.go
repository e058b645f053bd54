package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// nextFires is how many fire times are told of one schedule.
const nextFires = 10

func (s *Server) listSchedules(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	after, err := r.after('s')
	if err != nil {
		return err
	}
	list, err := s.engine.Schedules(r.Context(), after, limit+1)
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	for i, x := range list {
		fits, err := out.add(viewSchedule(x))
		if err != nil {
			return err
		}
		if !fits {
			out.Next = cursor('s', list[i-1].Definition)
			break
		}
	}
	return answer(w, http.StatusOK, out)
}

func (s *Server) getSchedule(w http.ResponseWriter, r *request) error {
	x, err := s.engine.Schedule(r.Context(), r.PathValue("definition"), nextFires)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, viewSchedule(x))
}

func viewDecision(m *engine.Mark) *api.Decision {
	if m == nil {
		return nil
	}
	return &api.Decision{At: m.At.Std(), By: m.By, Reason: m.Reason}
}

func viewSchedule(x engine.Schedule) api.Schedule {
	v := api.Schedule{
		Definition: x.Definition, Version: x.Version, State: api.ScheduleActive,
		Cron: x.When.Cron, Every: viewSpan(x.When.Every), After: viewSpan(x.When.After), From: x.When.From, Until: x.When.Until, Zone: x.When.Zone,
		Overlap: string(x.Overlap), CatchUp: string(x.Missed),
		Set:  api.Rules{Overlap: string(x.Rules.Overlap), CatchUp: string(x.Rules.Missed), CatchUpWindow: x.Rules.Window},
		Next: []time.Time{}, Fires: []api.Fire{},
	}
	if x.Window > 0 {
		v.CatchUpWindow = calendar.DurationOf(x.Window).String()
	}
	switch {
	case x.Retired != nil:
		v.State, v.Paused = api.ScheduleRetired, viewDecision(x.Retired)
	case x.DefinitionPaused != nil:
		v.State, v.Paused = api.ScheduleDefinitionPaused, viewDecision(x.DefinitionPaused)
	case x.Paused != nil:
		v.State, v.Paused = api.SchedulePaused, viewDecision(x.Paused)
	case x.Over:
		v.State = api.ScheduleOver
	}
	for _, at := range x.Next {
		v.Next = append(v.Next, at.Std())
	}
	for _, f := range x.Fires {
		v.Fires = append(v.Fires, api.Fire{At: f.At.Std(), Until: timeOf(f.Until), Outcome: string(f.Outcome), Instance: f.Instance, Status: api.Status(f.Status)})
	}
	return v
}

func viewSpan(s ir.Span) string {
	if !s.Set {
		return ""
	}
	return calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos}.String()
}

// decide is the handler of a decision about the definition in the path.
func decide(do func(s *Server, w http.ResponseWriter, r *request, id, reason string) error) func(*Server, http.ResponseWriter, *request) error {
	return func(s *Server, w http.ResponseWriter, r *request) error {
		body, err := s.object(r, "reason")
		if err != nil {
			return err
		}
		reason, err := r.reason(body)
		if err != nil {
			return err
		}
		return do(s, w, r, r.PathValue("definition"), reason)
	}
}

// decided tells the log what was decided.
func (s *Server) decided(r *request, verb, id, reason string) {
	s.log.InfoContext(r.Context(), "decision", "definition", id, "verb", verb, "who", r.who.name, "reason", reason)
}

// decideDefinition makes a decision, and answers with the current version after it.
func (s *Server) decideDefinition(w http.ResponseWriter, r *request, verb, id, reason string, do func() error) error {
	before := s.stateOf(id)
	if err := do(); err != nil {
		return err
	}
	r.deed.before, r.deed.after = before, s.stateOf(id)
	s.decided(r, verb, id, reason)
	row, err := s.engine.Definition(r.Context(), id, "")
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, s.viewDeployed(row))
}

// stateOf is what operators decided about a definition, for the audit log.
func (s *Server) stateOf(id string) string {
	switch paused, retired := s.engine.Decisions(id); {
	case paused != nil && retired != nil:
		return "state=paused,retired"
	case paused != nil:
		return "state=paused"
	case retired != nil:
		return "state=retired"
	}
	return "state=active"
}

func (s *Server) pauseDefinition(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideDefinition(w, r, "pause", id, reason, func() error { return s.engine.PauseDefinition(r.Context(), id, r.who.name, reason) })
}

func (s *Server) resumeDefinition(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideDefinition(w, r, "resume", id, reason, func() error { return s.engine.ResumeDefinition(r.Context(), id) })
}

func (s *Server) retireDefinition(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideDefinition(w, r, "retire", id, reason, func() error { return s.engine.RetireDefinition(r.Context(), id, r.who.name, reason) })
}

func (s *Server) unretireDefinition(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideDefinition(w, r, "unretire", id, reason, func() error { return s.engine.UnretireDefinition(r.Context(), id) })
}

// decideSchedule makes a decision, and answers with the schedule after it.
func (s *Server) decideSchedule(w http.ResponseWriter, r *request, verb, id, reason string, do func() error) error {
	before, err := s.engine.Schedule(r.Context(), id, 0)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := s.engine.Schedule(r.Context(), id, nextFires)
	if err != nil {
		return err
	}
	r.deed.before, r.deed.after = settings(before), settings(after)
	s.decided(r, verb, id, reason)
	return answer(w, http.StatusOK, viewSchedule(after))
}

// settings are what operators decided about a schedule, for the audit log.
func settings(x engine.Schedule) string {
	v := viewSchedule(x)
	return fmt.Sprintf("state=%s overlap=%s catchUp=%s catchUpWindow=%s", v.State, v.Overlap, v.CatchUp, v.CatchUpWindow)
}

func (s *Server) pauseSchedule(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideSchedule(w, r, "pause schedule", id, reason, func() error { return s.engine.PauseSchedule(r.Context(), id, r.who.name, reason) })
}

func (s *Server) resumeSchedule(w http.ResponseWriter, r *request, id, reason string) error {
	return s.decideSchedule(w, r, "resume schedule", id, reason, func() error { return s.engine.ResumeSchedule(r.Context(), id) })
}

func (s *Server) triggerSchedule(w http.ResponseWriter, r *request, id, reason string) error {
	if err := r.visit.start(1); err != nil {
		return err
	}
	instance, err := s.engine.Trigger(r.Context(), id)
	if err != nil {
		return err
	}
	s.log.InfoContext(r.Context(), "decision", "definition", id, "verb", "trigger", "started", instance, "who", r.who.name, "reason", reason)
	if instance != "" {
		r.deed.after = "instance=" + instance
		w.Header().Set("Location", instancePath(instance))
	}
	return answer(w, http.StatusAccepted, api.Triggered{Definition: id, Instance: instance})
}

func (s *Server) setSchedule(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "overlap", "catchUp", "catchUpWindow", "reason")
	if err != nil {
		return err
	}
	texts := map[string]*string{}
	for _, name := range []string{"overlap", "catchUp", "catchUpWindow"} {
		if v, given := body.Get(name); given && !v.IsNull() {
			text := body.Str(name)
			texts[name] = &text
		}
	}
	reason, err := r.reason(body)
	if err != nil {
		return err
	}
	id := r.PathValue("definition")
	set := func(rules *engine.ScheduleRules) {
		if text := texts["overlap"]; text != nil {
			rules.Overlap = engine.Overlap(*text)
		}
		if text := texts["catchUp"]; text != nil {
			rules.Missed = engine.MissedFires(*text)
		}
		if text := texts["catchUpWindow"]; text != nil {
			rules.Window = *text
		}
	}
	return s.decideSchedule(w, r, "set schedule", id, reason, func() error { return s.engine.SetSchedule(r.Context(), id, set) })
}

func (s *Server) backfillSchedule(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "from", "to", "dryRun", "reason")
	if err != nil {
		return err
	}
	var times [2]core.Time
	for i, name := range []string{"from", "to"} {
		v, _ := body.Get(name)
		if times[i], err = instantOf(name, v); err != nil {
			return err
		}
	}
	dry := body.Flag("dryRun", false)
	reason, err := r.reason(body)
	if err != nil {
		return err
	}
	id := r.PathValue("definition")
	if err := r.visit.start(0); err != nil {
		return err
	}
	list, err := s.engine.Backfill(r.Context(), id, times[0], times[1], dry)
	if err != nil {
		return err
	}
	out := api.Backfill{DryRun: dry, Fires: []api.BackfilledFire{}}
	for _, x := range list {
		if x.Existing {
			out.Existing++
		} else {
			out.Started++
		}
		out.Fires = append(out.Fires, api.BackfilledFire{At: x.At.Std(), Instance: x.Instance, Existing: x.Existing})
	}
	if !dry {
		s.rates.starts.Add(r.visit.who, int64(out.Started))
	}
	r.deed.none = dry
	r.deed.after = fmt.Sprintf("from=%s to=%s started=%d", times[0].Std().Format(time.RFC3339), times[1].Std().Format(time.RFC3339), out.Started)
	if !dry {
		s.log.InfoContext(r.Context(), "decision", "definition", id, "verb", "backfill", "from", times[0], "to", times[1], "started", out.Started, "who", r.who.name, "reason", reason)
	}
	return answer(w, http.StatusOK, out)
}

// instantOf reads a required instant of a body.
func instantOf(name string, v expr.Value) (core.Time, error) {
	at, err := time.Parse(time.RFC3339, v.Str())
	if err != nil {
		return 0, badMember("/"+name, name+" is required: an instant such as 2026-03-01T00:00:00Z")
	}
	if year := at.UTC().Year(); year < 1970 || year > 2261 {
		return 0, badMember("/"+name, name+" is "+v.Str()+": it must be from 1970 to 2261")
	}
	return core.TimeOf(at), nil
}
