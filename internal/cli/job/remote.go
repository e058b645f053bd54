package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// defaultSouth is the default address for devices of `lockstep serve` and `lockstep dev`, and
// defaultNorthPort the default port for operators. A server on another port likely has another address for
// devices.
const (
	defaultSouth     = "http://127.0.0.1:8080"
	defaultNorthPort = "8081"
)

// Flags select a server, and its address for devices.
type Flags struct {
	remote.Flags
	south string

	reached string // the address for devices, once it is used
}

// Add adds the flags to a group of commands.
func (f *Flags) Add(cmd *cobra.Command) {
	f.Flags.Add(cmd)
	cmd.PersistentFlags().StringVar(&f.south, "south", "", "where devices reach the server, by its `address`; the token then comes from "+cli.EnvSouthToken)
}

// Server is the connection of a command to a server with jobs. Jobs is its north-bound side.
type Server struct {
	*cli.App
	*client.Jobs
	Ctx    context.Context
	Flags  *Flags
	native *client.Client
}

// Run is the RunE of a command that needs a server with jobs.
func Run(a *cli.App, f *Flags, run func(r Server, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		native, err := remote.Connect(a, &f.Flags)
		if err != nil {
			return err
		}
		defer native.Close()
		options, err := f.Options()
		if err != nil {
			return err
		}
		north, err := newJobs(options)
		if err != nil {
			return err
		}
		defer north.Close()
		return f.blame(failure(run(Server{a, north, cmd.Context(), f, native}, args)))
	}
}

// check refuses an invalid --south, even if it is not needed.
func (f *Flags) check() error {
	if f.south == "" {
		return nil
	}
	if _, err := client.New(client.Options{URL: f.south}); err != nil {
		return cli.Usagef("--south: %v", err)
	}
	return nil
}

// blame hints at the setting to check if the address for devices cannot be reached.
func (f *Flags) blame(err error) error {
	cut, unreachable := errors.AsType[*client.UnreachableError](err)
	failure, ok := errors.AsType[*cli.Failure](err)
	if unreachable && ok && cut.URL == f.reached {
		failure.Hint = fmt.Sprintf("this is the configured address for devices; give --south URL, set %s, or store it with \"lockstep ctx set NAME --south URL\"", cli.EnvSouth)
		return err
	}
	return f.Explain(err)
}

func newJobs(o client.Options) (*client.Jobs, error) {
	j, err := client.NewJobs(client.JobsOptions{Options: o})
	if err != nil {
		return nil, cli.Usagef("%v", err)
	}
	return j, nil
}

// southTarget finds the address for devices: from the flag, then the environment, unless a flag names the
// server, then the context, then the default port of a server on this machine.
func (f *Flags) southTarget() (address, token string, err error) {
	token = os.Getenv(cli.EnvSouthToken)
	switch {
	case f.south != "":
		return f.south, token, nil
	case os.Getenv(cli.EnvSouth) != "" && f.URL == "" && f.Context == "":
		return os.Getenv(cli.EnvSouth), token, nil
	}
	entry, err := f.Target()
	if err != nil {
		return "", "", err
	}
	if entry.South != "" {
		return entry.South, token, nil
	}
	if u, err := url.Parse(entry.URL); err == nil && remote.IsLoopback(u.Hostname()) && u.Port() == defaultNorthPort {
		return defaultSouth, token, nil
	}
	return "", "", cli.Usagef("the address for devices of the server at %s is unknown", entry.URL).
		WithHint(fmt.Sprintf("the server prints it when it starts; give --south URL, set %s, or store it with \"lockstep ctx set NAME --south URL\"", cli.EnvSouth))
}

// SouthSide connects to the address for devices, with a maximum number of connections.
func SouthSide(a *cli.App, f *Flags, agent string, connections int) (*client.Jobs, error) {
	address, token, err := f.southTarget()
	if err != nil {
		return nil, err
	}
	remote.WarnClear(a, address, token)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	j, err := newJobs(client.Options{URL: address, Token: token, UserAgent: agent + "/" + version.Read().Version, Attempts: 3, HTTP: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err == nil {
		f.reached = j.URL()
	}
	return j, err
}

// as connects to the side on which an actor acts.
func (r Server) as(actor string) (*client.Jobs, func(), error) {
	if actor == "wfx" {
		return r.Jobs, func() {}, nil
	}
	south, err := SouthSide(r.App, r.Flags, "lockstep", 1)
	if err != nil {
		return nil, nil, err
	}
	return south, south.Close, nil
}

// exits are the exit codes of errors with status 400 of the wfx API.
var exits = map[api.Code]int{
	api.CodeWorkflowInvalid:   cli.ExitInvalid,
	api.CodeWorkflowNotFound:  cli.ExitNotFound,
	api.CodeWorkflowNotUnique: cli.ExitConflict,
	api.CodeJobNotFound:       cli.ExitNotFound,
	api.CodeJobModified:       cli.ExitConflict,
}

// failure is the failure for an error of the wfx API, with its exit code.
func failure(err error) error {
	if _, ok := errors.AsType[*client.FilterError](err); ok {
		return cli.Invalidf("%v", err)
	}
	_, done := errors.AsType[*cli.Failure](err)
	problem, refused := errors.AsType[*client.Problem](err)
	if done || !refused {
		return remote.Failure(err)
	}
	f := remote.ProblemFailure(problem)
	exit, ok := exits[problem.Code]
	switch {
	case ok:
		f.Exit = exit
	case problem.Status == http.StatusBadRequest && strings.HasPrefix(problem.Detail, "transition from "):
		f.Exit = cli.ExitConflict
	}
	return f
}
