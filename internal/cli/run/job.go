package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// move is one --take.
type move struct{ actor, state string }

// parseMove reads ACTOR:STATE. The name of a state may hold colons.
func parseMove(text string) (move, error) {
	actor, state, ok := strings.Cut(text, ":")
	actor = strings.ToUpper(actor)
	if !ok || state == "" || actor != "CLIENT" && actor != "WFX" {
		return move{}, cli.Usagef("--take %q: it must be CLIENT:STATE or WFX:STATE", text)
	}
	return move{actor, state}, nil
}

// prepareJob checks the flags that are only for jobs, or not for jobs. Their clock is always virtual: moves
// follow one another immediately, and only --skip-time advances it.
func (s *session) prepareJob() error {
	p := s.first()
	if !p.Job {
		if len(s.flags.takes) > 0 {
			return cli.Usagef("--take is for jobs, and %q is not a job workflow", p.ID)
		}
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"mock", s.flags.mock != ""}, {"events", s.flags.events != ""}, {"step", s.flags.step}} {
		if f.given {
			return cli.Usagef("--%s is not for jobs, which only wait for their actors; use --take", f.name)
		}
	}
	var names []string
	for _, state := range p.States {
		names = append(names, state.Name)
	}
	for _, text := range s.flags.takes {
		m, err := parseMove(text)
		if err != nil {
			return err
		}
		if !slices.Contains(names, m.state) {
			f := cli.Usagef("--take %q: %q has no state %q", text, p.ID, m.state)
			f.Hint = "its states are " + strings.Join(names[:min(len(names), 12)], ", ")
			if near := dialect.Suggest(m.state, names); near != "" {
				f.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			return f
		}
		s.moves = append(s.moves, m)
	}
	if s.virtual == nil {
		s.virtual = engine.NewVirtualClock(time.Now().UTC().Truncate(time.Second))
		s.clock = s.virtual
	}
	return nil
}

// runJob creates a job, makes the moves of --take, and with --skip-time lets time pass.
func (s *session) runJob(ctx context.Context) (result, error) {
	definition := expr.Null
	if s.flags.input != "" {
		definition = s.input
	}
	job, err := s.engine.CreateJob(ctx, engine.JobRequest{Workflow: s.first().ID, Client: s.flags.client, Definition: definition})
	if err != nil {
		return result{}, err
	}
	s.mu.Lock()
	s.instance = job.ID
	s.mu.Unlock()
	for i, m := range s.moves {
		if _, reached, _ := s.seen(); reached != nil {
			break
		}
		status := expr.Object(expr.Member{Key: "state", Value: expr.String(m.state)})
		if _, err := s.engine.UpdateJob(ctx, job.ID, engine.JobUpdate{Actor: m.actor, Status: status}); err != nil {
			return result{}, s.refusedMove(s.flags.takes[i], err)
		}
	}
	if s.flags.skipTime {
		return s.runVirtual(ctx)
	}
	if _, err := s.engine.Poll(ctx); err != nil {
		return result{}, err
	}
	if r, over, err := s.over(ctx); over || err != nil {
		return r, err
	}
	return result{}, errStuck
}

func (s *session) refusedMove(take string, err error) error {
	var rejected *core.Rejected
	if !errors.As(err, &rejected) {
		return err
	}
	return &cli.Failure{
		Exit: cli.ExitConflict, Code: "rejected", Title: "The move is not allowed", Detail: fmt.Sprintf("--take %s: %v", take, err),
		Hint: "open are " + scenario.DescribeOffers(rejected.Allowed),
	}
}

// jobWaits describes a job that has not ended after all moves.
func (s *session) jobWaits(f *cli.Failure) error {
	id, _, _ := s.seen()
	job, err := s.engine.Job(context.WithoutCancel(s.ctx), id)
	if err != nil {
		return err
	}
	state := job.Instance.Job.State
	var open []string
	for _, o := range job.Offers {
		if o.Choice != state {
			open = append(open, o.Actor+":"+o.Choice)
		}
	}
	f.Title = "The job waits"
	f.Detail = fmt.Sprintf("the job is in %s and waits for %s", state, strings.Join(open, " or "))
	if len(open) > 0 {
		f.Hint = fmt.Sprintf("--take %s moves it", open[0])
	}
	if job.HasWake && !s.flags.skipTime {
		f.Hint += ", --skip-time lets its time limits pass"
	}
	f.More = append(f.More, "its status is "+job.Status.String())
	return f
}
