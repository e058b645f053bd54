package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// defaultSouth is where devices find `lockstep serve` and `lockstep dev` unless they are told otherwise, and
// defaultNorthPort is the port that operators then use. Beside another one there is likely another server, whose
// devices are elsewhere.
const (
	defaultSouth     = "http://127.0.0.1:8080"
	defaultNorthPort = "8081"
)

// Variables of the environment that name the side of devices.
const (
	envSouth      = "LOCKSTEP_SOUTH_URL"
	envSouthToken = "LOCKSTEP_SOUTH_TOKEN"
)

// jobFlags choose a server, and its side of devices.
type jobFlags struct {
	remoteFlags
	south string

	reached string // the address of the side of devices, once it is used
}

func (f *jobFlags) add(cmd *cobra.Command) {
	f.remoteFlags.add(cmd)
	cmd.PersistentFlags().StringVar(&f.south, "south", "", "where devices reach the server, by its `address`; the token then comes from "+envSouthToken)
}

// jobRemote is one use of a server with jobs by a command. Jobs is its north-bound side.
type jobRemote struct {
	*app
	*client.Jobs
	ctx    context.Context
	flags  *jobFlags
	native *client.Client
}

// jobly makes what a command does out of something that needs a server with jobs.
func (a *app) jobly(f *jobFlags, run func(r jobRemote, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		native, err := a.connect(&f.remoteFlags)
		if err != nil {
			return err
		}
		defer native.Close()
		north, err := f.north()
		if err != nil {
			return err
		}
		defer north.Close()
		return f.blame(jobFailure(run(jobRemote{a, north, cmd.Context(), f, native}, args)))
	}
}

// check finds a --south that cannot be meant, also where it is not needed.
func (f *jobFlags) check() error {
	if f.south == "" {
		return nil
	}
	if _, err := client.New(client.Options{URL: f.south}); err != nil {
		return usagef("--south: %v", err)
	}
	return nil
}

// blame says which setting to look at where the side of devices cannot be reached.
func (f *jobFlags) blame(err error) error {
	var cut *client.UnreachableError
	var told *failure
	if errors.As(err, &cut) && errors.As(err, &told) && cut.URL == f.reached {
		told.hint = fmt.Sprintf("that is where devices are said to reach the server; give --south URL, set %s, or keep it with \"lockstep ctx set NAME --south URL\"", envSouth)
	}
	return err
}

// oneJob is jobly for a command about one job, which the first argument or --id names; rest is how many
// arguments may follow, or -1.
func (a *app) oneJob(server *jobFlags, cmd *cobra.Command, id *string, rest int, run func(r jobRemote, id string, args []string) error) {
	cmd.RunE = a.jobly(server, func(r jobRemote, args []string) error {
		id, args, err := theJob(cmd, *id, args, rest)
		if err != nil {
			return err
		}
		return namedJob(id, run(r, id, args))
	})
}

func (f *jobFlags) north() (*client.Jobs, error) {
	entry, err := f.target()
	if err != nil {
		return nil, err
	}
	token, err := entry.token()
	if err != nil {
		return nil, err
	}
	return newJobs(client.Options{URL: entry.URL, Token: token, UserAgent: "lockstep"})
}

func newJobs(o client.Options) (*client.Jobs, error) {
	o.UserAgent, o.Attempts = o.UserAgent+"/"+readVersion().Version, 3
	j, err := client.NewJobs(client.JobsOptions{Options: o})
	if err != nil {
		return nil, usagef("%v", err)
	}
	return j, nil
}

// southTarget finds the side of devices: the flag, then the environment, unless a flag names the
// server, then the context, and of a server on this machine the usual port.
func (f *jobFlags) southTarget() (address, token string, err error) {
	token = os.Getenv(envSouthToken)
	switch {
	case f.south != "":
		return f.south, token, nil
	case os.Getenv(envSouth) != "" && f.url == "" && f.context == "":
		return os.Getenv(envSouth), token, nil
	}
	entry, err := f.target()
	if err != nil {
		return "", "", err
	}
	if entry.South != "" {
		return entry.South, token, nil
	}
	if u, err := url.Parse(entry.URL); err == nil && isLoopback(u.Hostname()) && u.Port() == defaultNorthPort {
		return defaultSouth, token, nil
	}
	bad := usagef("it is not known where devices reach the server at %s", entry.URL)
	bad.hint = fmt.Sprintf("the server tells it when it starts; give --south URL, set %s, or keep it with \"lockstep ctx set NAME --south URL\"", envSouth)
	return "", "", bad
}

// southSide connects to the side of devices, with so many connections at a time.
func (a *app) southSide(f *jobFlags, agent string, connections int) (*client.Jobs, error) {
	address, token, err := f.southTarget()
	if err != nil {
		return nil, err
	}
	if token != "" && !protected(address) {
		fmt.Fprintf(a.err, "warning: the token goes to %s in the clear; use https\n", plain(address))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	j, err := newJobs(client.Options{URL: address, Token: token, UserAgent: agent, HTTP: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err == nil {
		f.reached = j.URL()
	}
	return j, err
}

// as connects to the side on which an actor acts.
func (r jobRemote) as(actor string) (*client.Jobs, func(), error) {
	if actor == "wfx" {
		return r.Jobs, func() {}, nil
	}
	south, err := r.southSide(r.flags, "lockstep", 1)
	if err != nil {
		return nil, nil, err
	}
	return south, south.Close, nil
}

// jobExits are the exit codes of what the wfx API refuses with status 400.
var jobExits = map[string]int{
	"wfx.workflowInvalid":         exitInvalid,
	"wfx.workflowNotFound":        exitNotFound,
	"wfx.workflowNotUnique":       exitConflict,
	"wfx.jobNotFound":             exitNotFound,
	"wfx.jobModifiedConcurrently": exitConflict,
}

// jobFailure finds the exit code and the words of what the wfx API answered.
func jobFailure(err error) error {
	var problem *client.Problem
	var told *failure
	var filter *client.FilterError
	if errors.As(err, &filter) {
		return invalidf("%v", err)
	}
	if errors.As(err, &told) || !errors.As(err, &problem) {
		return remoteFailure(err)
	}
	f := problemFailure(problem)
	exit, ok := jobExits[problem.Code]
	switch {
	case ok:
		f.exit = exit
	case problem.Status == http.StatusBadRequest && strings.HasPrefix(problem.Detail, "transition from "):
		f.exit = exitConflict
	}
	return f
}

// age is a flag for how long something has been: 30d, 12h, P1M.
type age struct {
	text string
	span calendar.Duration
}

func (a *age) String() string { return a.text }
func (a *age) Type() string   { return "time" }

func (a *age) Set(text string) error {
	span, err := parseAge(text)
	if err != nil || span.IsZero() {
		return errors.New("must be a time such as 30d, 12h or P1M")
	}
	a.text, a.span = text, span
	return nil
}

func parseAge(text string) (calendar.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return calendar.Duration{Nanos: int64(d)}, nil
	}
	if n := len(text); n > 1 && (text[n-1] == 'd' || text[n-1] == 'w') {
		text = "P" + strings.ToUpper(text)
	}
	return calendar.ParseDuration(text)
}

// before is the instant that is so long ago.
func (a *age) before(now time.Time) time.Time {
	if a.text == "" {
		return time.Time{}
	}
	return a.span.SubFrom(now)
}

// bound is a context that ends when a limit is reached, if there is one.
func (w *waitLimit) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := w.deadline(time.Now()); ok {
		return context.WithDeadline(ctx, deadline)
	}
	return context.WithCancel(ctx)
}
