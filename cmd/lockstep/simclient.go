package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// anyWorkflow stands for all of them.
const anyWorkflow = "any"

// maxSimClients is how many devices can be played at a time (the limit sim-clients).
const maxSimClients = 1_000_000

// simFlags say which devices to play, and how.
type simFlags struct {
	clients, prefix, workflow, failState string
	fail                                 share
	speed, rate                          float64
	reports, jobs                        int
	seed                                 uint64
	untilIdle, create, approve           bool
	limit                                waitLimit
}

// share is a part of a whole: 5% or 0.05.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s)*100, 'f', -1, 64) + "%" }
func (s *share) Type() string   { return "share" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n >= 0 && n <= 1) {
		return errors.New("must be a share such as 5% or 0.05")
	}
	*s = share(n)
	return nil
}

func (a *app) clientCommand() *cobra.Command {
	var server jobFlags
	cmd := a.group("client", "Play the devices that do jobs", `  lockstep client run-sim --clients 100 --workflow firmware --create --fail 5% --until-idle`)
	server.add(cmd)
	cmd.AddCommand(a.runSim(&server))
	return cmd
}

func (a *app) runSim(server *jobFlags) *cobra.Command {
	s := simFlags{workflow: anyWorkflow, clients: "10", prefix: "sim-", speed: 1, reports: 2}
	cmd := &cobra.Command{
		Use: "run-sim", Short: "Play devices, for demos and load", Args: atMost(0),
		Long: "Run-sim plays devices: it takes the jobs of its clients, reports progress, and leads each through the transitions that a client may\n" +
			"make, to an end. Where an operator must act it waits for that, or with --approve does it. It goes on until Ctrl-C, or as --until-idle, --jobs and --for say, and then\n" +
			"tells what happened. With the same --seed, a client's n-th job of a workflow takes the same way.",
		Example: `  lockstep client run-sim --clients 100 --workflow firmware --create --until-idle
  lockstep client run-sim --clients 5000 --fail 5% --fail-state FAILED --speed 0 --rate 500
  lockstep client run-sim --clients dana,robin --speed 5`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml")
	f := cmd.Flags()
	f.StringVar(&s.clients, "clients", s.clients, "how many devices to play, or which: `N`, A,B,C, or @FILE with one a line")
	f.StringVar(&s.prefix, "prefix", s.prefix, "what the names of the devices begin with where --clients is a number")
	f.StringVar(&s.workflow, "workflow", s.workflow, "the `name` of the workflow, or any")
	f.BoolVar(&s.create, "create", false, "first create a job of the workflow for each device, as an operator")
	f.BoolVar(&s.approve, "approve", false, "also play the operator, where only an operator can go on")
	f.Var(&s.fail, "fail", "how many jobs fail, such as 5%")
	f.StringVar(&s.failState, "fail-state", "", "the `state` that counts as a failure; without it, ends that are called so")
	f.Float64Var(&s.speed, "speed", s.speed, "how fast devices are: 1 is a report about every second, 0 without a pause")
	f.Float64Var(&s.rate, "rate", 0, "how many requests a second at most, of all devices together; 0: no limit")
	f.IntVar(&s.reports, "reports", s.reports, "how often a device reports progress in a state before it goes on")
	f.Uint64Var(&s.seed, "seed", 1, "what the choices of devices follow from")
	f.BoolVar(&s.untilIdle, "until-idle", false, "end when there is nothing that a device could do")
	f.IntVar(&s.jobs, "jobs", 0, "end after so many jobs are over")
	f.Var(&s.limit, "for", "end after this `time` (PT1M or 1m)")
	a.completeFlag(server, cmd, "workflow", workflowWords)
	a.completeFlag(server, cmd, "fail-state", stateWords)
	cmd.RunE = a.jobly(server, func(r jobRemote, _ []string) error {
		if s.speed < 0 || s.rate < 0 || s.reports < 0 || s.jobs < 0 {
			return usagef("--speed, --rate, --reports and --jobs must not be negative")
		}
		names, err := s.names(r)
		if err != nil {
			return err
		}
		return r.simulate(&s, names, output.value)
	})
	return cmd
}

// names are those of the devices.
func (s *simFlags) names(r jobRemote) ([]string, error) {
	n, err := strconv.Atoi(s.clients)
	if err != nil {
		return r.readClients(s.clients)
	}
	if n < 1 || n > maxSimClients {
		return nil, usagef("--clients must be from 1 to %d (limit sim-clients)", maxSimClients)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%0*d", s.prefix, len(strconv.Itoa(n)), i+1)
	}
	return out, nil
}

// simulate connects, plays and tells.
func (r jobRemote) simulate(flags *simFlags, names []string, format string) error {
	devices, err := r.southSide(r.flags, "lockstep-sim", simWorkers+1)
	if err != nil {
		return err
	}
	defer devices.Close()
	sim := &simulation{
		devices: devices, operate: r.Jobs, broke: r.tellBroken, flags: flags, clients: map[string]int{}, jobs: map[string]*simJob{}, flows: map[string]*simWorkflow{},
		sum: simSummary{Ended: map[string]int{}},
	}
	for _, name := range names {
		sim.clients[name] = 0
	}
	if err := r.checkSim(devices, flags); err != nil {
		return err
	}
	if flags.create {
		if err := r.createSim(devices, flags, names); err != nil {
			return err
		}
	}
	if !r.problems {
		fmt.Fprintf(r.err, "playing %s at %s\n", plural(len(names), "device"), plain(devices.URL()))
	}
	ctx, cancel := flags.limit.bound(r.ctx)
	defer cancel()
	err = sim.run(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if told := sim.sum.write(r.app, format); told != nil {
		return told
	}
	if r.ctx.Err() != nil {
		return shown(exitInterrupted)
	}
	return nil
}

// checkSim finds a misspelled --workflow or --fail-state, and devices that cannot reach the server.
func (r jobRemote) checkSim(devices *client.Jobs, flags *simFlags) error {
	if flags.workflow == anyWorkflow {
		if flags.create {
			return usagef("--create needs --workflow")
		}
		_, err := devices.ListWorkflows(r.ctx, client.WorkflowQuery{Limit: 1})
		return err
	}
	w, err := devices.GetWorkflow(r.ctx, flags.workflow)
	if err != nil {
		return namedWorkflow(r.ctx, devices, flags.workflow, err)
	}
	return knownState(w, "--fail-state", flags.failState)
}

// createSim makes the jobs to play, and sees to it that the devices know them: the two sides may be those of
// two servers.
func (r jobRemote) createSim(devices *client.Jobs, flags *simFlags, names []string) error {
	items, made, err := r.createMany(client.JobsRequest{Workflow: flags.workflow}, names)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.ID == "" {
			continue
		}
		_, err := devices.GetJob(r.ctx, item.ID, false)
		if isNoJob(err) {
			f := &failure{exit: exitNotFound, code: "other-server", title: "The devices do not see the jobs", cause: err}
			f.detail = fmt.Sprintf("%s created at %s, but devices do not find %s at %s: is that another server?", were(made, "job"), r.URL(), item.ID, devices.URL())
			f.hint = "give --south URL; the server tells it when it starts. The jobs are still there"
			return f
		}
		return err
	}
	return nil
}

// were is how many there were.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return plural(n, noun) + " were"
}

func (s *simSummary) write(a *app, format string) error {
	if format != "table" {
		return writeValue(a.out, s, format)
	}
	var ends []string
	for _, state := range slices.Sorted(maps.Keys(s.Ended)) {
		ends = append(ends, fmt.Sprintf("%s %d", state, s.Ended[state]))
	}
	rate := float64(s.Updates) / max(s.Seconds, 0.001)
	return writeItem(a, s, "", format, []field{
		{"devices", strconv.Itoa(s.Clients)},
		{"jobs", strconv.Itoa(s.Jobs)},
		{"ended", strings.Join(ends, ", ")},
		{"failed", strconv.Itoa(s.Failed)},
		{"waiting for an operator", strconv.Itoa(s.Waiting)},
		{"still open", strconv.Itoa(s.Open)},
		{"deleted", strconv.Itoa(s.Deleted)},
		{"updates", fmt.Sprintf("%d, %.0f/s", s.Updates, rate)},
		{"refused", strconv.Itoa(s.Refused)},
	})
}
