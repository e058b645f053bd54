package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

var campaignDevices = flag.Int("campaign.devices", 200, "how many devices TestCampaign has")

// TestCampaign rolls a release out to devices that are played over HTTP, of which a
// twentieth fails, with the example's definitions: it completes, it stops where it is told
// to and takes back what it did, and it goes on after the server was killed. In the end
// every job has come to its state by the workflow's transitions, and is what the campaign
// says it is.
func TestCampaign(t *testing.T) {
	c := newCampaign(t, *campaignDevices)
	c.up()
	begin := time.Now()
	done := c.finish(c.start("done", c.devices))
	t.Logf("%d devices, all of them updated: %v", c.devices, time.Since(begin))
	c.check(done, "done", c.devices)

	begin = time.Now()
	limit := c.devices / 100
	stopped := c.finish(c.start("stopped", limit))
	t.Logf("stopped after %d updates, %d rolled back: %v", len(stopped.Updates), len(stopped.RolledBack), time.Since(begin))
	c.check(stopped, "stopped", limit)
	if len(stopped.Updates) == c.devices || stopped.Failures <= limit {
		t.Errorf("stopped after %d updates and %d failures of %d", len(stopped.Updates), stopped.Failures, limit)
	}

	before := c.closed()
	id := c.start("killed", c.devices)
	for c.closed() < before+c.devices/3 { // somewhere in the middle
	}
	c.kill()
	c.up()
	killed := c.finish(id)
	c.check(killed, "done", c.devices)
	if want, have := c.jobs, c.count(client.JobQuery{}); have != want {
		t.Errorf("there are %d jobs, of which campaigns know %d", have, want)
	}
	if code, err := c.server.stop(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v:\n%s", code, err, c.server.stderr())
	}
}

// campaign is a server, and devices that are played.
type campaign struct {
	t        *testing.T
	dir      string
	devices  int
	jobs     int // that campaigns told of
	workflow api.Workflow

	server  *process
	players *exec.Cmd
	api     *client.Client
	north   *client.Jobs
}

// rollout is the output of a campaign.
type rollout struct {
	Verdict             string
	Failures            int
	Updates, RolledBack []updated
}

type updated struct{ ID, ClientID, State string }

func newCampaign(t *testing.T, devices int) *campaign {
	return &campaign{t: t, dir: t.TempDir(), devices: devices}
}

// up starts a server and the devices, which find it wherever it listens.
func (c *campaign) up() {
	c.t.Helper()
	first := c.server == nil
	p, err := launch(c.dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--store", "sqlite:"+filepath.Join(c.dir, "lockstep.db"), "--log-level", "warn")
	c.must(err)
	c.t.Cleanup(p.kill)
	c.server = p
	c.api, err = client.New(client.Options{URL: p.url})
	c.must(err)
	c.north, err = client.NewJobs(client.JobsOptions{Options: client.Options{URL: p.url}})
	c.must(err)
	if first {
		for _, file := range []string{"update.yaml", "campaign.yaml"} {
			text, err := os.ReadFile(filepath.Join("../../examples/campaign", file))
			c.must(err)
			_, _, err = c.api.DeployDefinition(c.t.Context(), text, client.Deploy{})
			c.must(err)
		}
		c.workflow, err = c.north.GetWorkflow(c.t.Context(), "fleet.update")
		c.must(err)
	}
	path, err := exec.LookPath("lockstep")
	c.must(err)
	c.players = exec.CommandContext(c.t.Context(), path, "client", "run-sim", "--url", p.url, "--south", p.devs, "--clients", strconv.Itoa(c.devices),
		"--workflow", "fleet.update", "--fail", "5%", "--fail-state", "FAILED", "--speed", "0", "--reports", "1")
	c.players.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	c.must(c.players.Start())
	players := c.players
	c.t.Cleanup(func() {
		_ = players.Process.Kill()
		_ = players.Wait()
	})
}

// kill ends the server as a power cut would; the devices are turned off with it.
func (c *campaign) kill() {
	c.server.kill()
	_ = c.players.Process.Kill()
}

// start begins a campaign in four waves: a hundredth, a tenth, the half, and the rest.
func (c *campaign) start(key string, maxFailures int) (id string) {
	c.t.Helper()
	type wave struct {
		Name    string   `json:"name"`
		Devices []string `json:"devices"`
	}
	var waves []wave
	names := make([]string, c.devices)
	for i := range names {
		names[i] = fmt.Sprintf("sim-%0*d", len(strconv.Itoa(c.devices)), i+1)
	}
	from := 0
	for i, part := range []int{100, 10, 2, 1} {
		waves = append(waves, wave{fmt.Sprintf("wave-%d", i+1), names[from : c.devices/part]})
		from = c.devices / part
	}
	input, err := json.Marshal(map[string]any{"release": "2.5", "previous": "2.4", "maxFailures": maxFailures, "waves": waves})
	c.must(err)
	in, err := c.api.StartInstance(c.t.Context(), "campaign", client.Start{Key: key, Input: input})
	c.must(err)
	return in.ID
}

// finish waits until a campaign is over.
func (c *campaign) finish(id string) rollout {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute) // it fails then
	defer cancel()
	for {
		in, err := c.api.GetInstance(ctx, id, time.Minute)
		c.must(err)
		if in.Status == api.Completed {
			var out rollout
			c.must(json.Unmarshal(in.Output, &out))
			return out
		}
		if !slices.Contains([]api.Status{api.Running, api.Waiting}, in.Status) {
			c.t.Fatalf("the campaign is %s: %+v\n%s", in.Status, in.Error, c.server.stderr())
		}
	}
}

// check compares what a campaign says with the jobs.
func (c *campaign) check(r rollout, verdict string, maxFailures int) {
	c.t.Helper()
	c.jobs += len(r.Updates) + len(r.RolledBack)
	active := map[string]bool{}
	failed := 0
	for _, u := range r.Updates {
		c.checkJob(u, "2.5", "wave-")
		if u.State == "ACTIVE" {
			active[u.ClientID] = true
		} else {
			failed++
		}
	}
	over := failed > maxFailures
	if r.Verdict != verdict || r.Failures != failed || over != (verdict == "stopped") || failed == 0 {
		c.t.Errorf("%s with %d failures; of %d updates %d failed, and %d may", r.Verdict, r.Failures, len(r.Updates), failed, maxFailures)
	}
	if len(active)+failed != len(r.Updates) {
		c.t.Errorf("%d updates of %d devices", len(r.Updates), len(active)+failed)
	}
	if !over && len(r.RolledBack) > 0 || over && len(r.RolledBack) != len(active) {
		c.t.Errorf("%d devices are rolled back, %d were updated", len(r.RolledBack), len(active))
	}
	for _, u := range r.RolledBack {
		c.checkJob(u, "2.4", "rollback")
		if !active[u.ClientID] {
			c.t.Errorf("device %s is rolled back, and was not updated", u.ClientID)
		}
		delete(active, u.ClientID) // nor twice
	}
}

// checkJob reads a job: it is what the campaign told, and its history is a way through the
// workflow.
func (c *campaign) checkJob(u updated, release, tag string) {
	c.t.Helper()
	job, err := c.north.GetJob(c.t.Context(), u.ID, true)
	c.must(err)
	var about struct{ Release string }
	c.must(json.Unmarshal(job.Definition, &about))
	tagged := slices.ContainsFunc(job.Tags, func(t string) bool { return strings.HasPrefix(t, tag) })
	if job.ClientID != u.ClientID || job.State() != u.State || about.Release != release || !tagged {
		c.t.Errorf("the campaign tells %+v of job %+v", u, job)
	}
	states := []string{job.State()}
	for _, change := range job.History {
		if change.Status != nil {
			states = append(states, change.Status.State)
		}
	}
	slices.Reverse(states)
	if states[0] != "OFFERED" {
		c.t.Errorf("job %s began in %s", u.ID, states[0])
	}
	for i, to := range states[1:] {
		from := states[i]
		if from != to && !slices.ContainsFunc(c.workflow.Transitions, func(t api.Transition) bool { return t.From == from && t.To == to }) {
			c.t.Errorf("job %s went from %s to %s", u.ID, from, to)
		}
	}
}

// closed is how many jobs are over.
func (c *campaign) closed() int { return c.count(client.JobQuery{Groups: []string{"CLOSED"}}) }

func (c *campaign) count(q client.JobQuery) int {
	c.t.Helper()
	n, err := c.north.CountJobs(c.t.Context(), q)
	c.must(err)
	return int(n)
}

func (c *campaign) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}
