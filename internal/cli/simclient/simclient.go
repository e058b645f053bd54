package simclient

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/job"
)

// anyWorkflow stands for all workflows.
const anyWorkflow = "any"

// maxClients is how many devices can be simulated at a time ("sim-clients").
const maxClients = 1_000_000

// flags describe the simulated devices.
type flags struct {
	clients, prefix, workflow, failState string
	fail                                 share
	speed, rate                          float64
	reports, jobs                        int
	seed                                 uint64
	untilIdle, create, approve           bool
	limit                                cli.Duration
}

// share is a part of a whole: 5% or 0.05.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s)*100, 'f', -1, 64) + "%" }

func (s *share) Type() string { return "share" }

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

// Command is `lockstep client`.
func Command(a *cli.App) *cobra.Command {
	var server job.Flags
	cmd := a.Group("client", "Simulate the devices that do jobs", `  lockstep client run-sim --clients 100 --workflow firmware --create --fail 5% --until-idle`)
	server.Add(cmd)
	cmd.AddCommand(runSim(a, &server))
	return cmd
}

func runSim(a *cli.App, server *job.Flags) *cobra.Command {
	s := flags{workflow: anyWorkflow, clients: "10", prefix: "sim-", speed: 1, reports: 2}
	cmd := &cobra.Command{
		Use: "run-sim", Short: "Simulate devices, for demos and load tests", Args: cli.AtMost(0),
		Long: "Run-sim simulates devices: it takes the jobs of its clients, reports progress, and moves each job to a final state by the transitions\n" +
			"of a client. If an operator must act, it waits, or with --approve acts itself. It runs until Ctrl-C or the end that --until-idle, --jobs\n" +
			"or --for sets, and then prints a summary. With the same --seed, a client's n-th job of a workflow takes the same path.",
		Example: `  lockstep client run-sim --clients 100 --workflow firmware --create --until-idle
  lockstep client run-sim --clients 5000 --fail 5% --fail-state FAILED --speed 0 --rate 500
  lockstep client run-sim --clients dana,robin --speed 5`,
	}
	output := cli.OutputFlag(cmd, "format", "table", "json", "yaml")
	f := cmd.Flags()
	f.StringVar(&s.clients, "clients", s.clients, "the devices to simulate: `N`, A,B,C, or @FILE with one a line")
	f.StringVar(&s.prefix, "prefix", s.prefix, "prefix of the devices' names if --clients is a number")
	f.StringVar(&s.workflow, "workflow", s.workflow, "the `name` of the workflow, or any")
	f.BoolVar(&s.create, "create", false, "first create a job of the workflow for each device, as an operator")
	f.BoolVar(&s.approve, "approve", false, "also simulate the operator, in states where only an operator can act")
	f.Var(&s.fail, "fail", "share of jobs that fail, such as 5%")
	f.StringVar(&s.failState, "fail-state", "", "the `state` that counts as a failure (default: final states whose name looks like one)")
	f.Float64Var(&s.speed, "speed", s.speed, "speed of the devices: 1 is about one report a second, 0 no pauses")
	f.Float64Var(&s.rate, "rate", 0, "maximum requests a second of all devices; 0: no limit")
	f.IntVar(&s.reports, "reports", s.reports, "progress reports of a device in each state")
	f.Uint64Var(&s.seed, "seed", 1, "the `seed` of the devices' choices")
	f.BoolVar(&s.untilIdle, "until-idle", false, "end when no device can do anything")
	f.IntVar(&s.jobs, "jobs", 0, "end after this number of jobs have ended")
	f.Var(&s.limit, "for", "end after this `time` (PT1M or 1m)")
	job.CompleteFlag(server, cmd, "workflow", job.WorkflowWords)
	job.CompleteFlag(server, cmd, "fail-state", job.StateWords)
	cmd.RunE = job.Run(a, server, func(r job.Server, _ []string) error {
		if s.speed < 0 || s.rate < 0 || s.reports < 0 || s.jobs < 0 {
			return cli.Usagef("--speed, --rate, --reports and --jobs must not be negative")
		}
		names, err := s.names(r)
		if err != nil {
			return err
		}
		return simulate(r, &s, names, output.Value)
	})
	return cmd
}

// names returns the names of the devices.
func (s *flags) names(r job.Server) ([]string, error) {
	n, err := strconv.Atoi(s.clients)
	if err != nil {
		return r.ReadClients(s.clients)
	}
	if n < 1 || n > maxClients {
		return nil, cli.Usagef("--clients must be from 1 to %d (limit sim-clients)", maxClients)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%0*d", s.prefix, len(strconv.Itoa(n)), i+1)
	}
	return out, nil
}

// simulate connects, runs the simulation and writes the summary.
func simulate(r job.Server, flags *flags, names []string, format string) error {
	devices, err := job.SouthSide(r.App, r.Flags, "lockstep-sim", workers+1)
	if err != nil {
		return err
	}
	defer devices.Close()
	sim := &simulation{
		devices: devices, operate: r.Jobs, broke: r.ReportBroken, flags: flags,
		clients: map[string]int{}, jobs: map[string]*simJob{}, flows: map[string]*workflow{},
		sum: summary{Ended: map[string]int{}},
	}
	for _, name := range names {
		sim.clients[name] = 0
	}
	if err := checkSim(r, devices, flags); err != nil {
		return err
	}
	if flags.create {
		if err := createSim(r, devices, flags, names); err != nil {
			return err
		}
	}
	if !r.Problems {
		fmt.Fprintf(r.Err, "simulating %s at %s\n", cli.Plural(len(names), "device"), cli.Plain(devices.URL()))
	}
	ctx, cancel := flags.limit.Bound(r.Ctx)
	defer cancel()
	err = sim.run(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if err := sim.sum.write(r.App, format); err != nil {
		return err
	}
	if r.Ctx.Err() != nil {
		return cli.Shown(cli.ExitInterrupted)
	}
	return nil
}

// checkSim refuses an unknown --workflow or --fail-state, and an unreachable address for devices.
func checkSim(r job.Server, devices *client.Jobs, flags *flags) error {
	if flags.workflow == anyWorkflow {
		if flags.create {
			return cli.Usagef("--create needs --workflow")
		}
		_, err := devices.ListWorkflows(r.Ctx, client.WorkflowQuery{Limit: 1})
		return err
	}
	w, err := devices.GetWorkflow(r.Ctx, flags.workflow)
	if err != nil {
		return job.NamedWorkflow(r.Ctx, devices, flags.workflow, err)
	}
	return job.KnownState(w, "--fail-state", flags.failState)
}

// createSim creates the jobs, and checks that the devices can see them: the two sides may belong to different
// servers.
func createSim(r job.Server, devices *client.Jobs, flags *flags, names []string) error {
	items, made, err := r.CreateMany(api.JobsRequest{Workflow: flags.workflow, Clients: names}, "")
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.ID == "" {
			continue
		}
		_, err := devices.GetJob(r.Ctx, item.ID, false)
		if job.IsNoJob(err) {
			f := &cli.Failure{Exit: cli.ExitNotFound, Code: "other-server", Title: "The devices do not see the jobs", Cause: err}
			f.Detail = fmt.Sprintf("%s created at %s, but devices cannot find %s at %s: is that another server?",
				were(made, "job"), r.URL(), item.ID, devices.URL())
			f.Hint = "give --south URL, which the server prints when it starts. The jobs still exist"
			return f
		}
		return err
	}
	return nil
}

// were is a number with its noun and verb.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return cli.Plural(n, noun) + " were"
}

func (s *summary) write(a *cli.App, format string) error {
	if format != "table" {
		return cli.WriteValue(a.Out, s, format)
	}
	var ends []string
	for _, state := range slices.Sorted(maps.Keys(s.Ended)) {
		ends = append(ends, fmt.Sprintf("%s %d", state, s.Ended[state]))
	}
	rate := float64(s.Updates) / max(s.Seconds, 0.001)
	return cli.WriteItem(a, s, "", cli.AsFormat(format), []cli.Field{
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
