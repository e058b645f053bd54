package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Exit codes of the commands that talk to a server.
const (
	exitAuth        = 4
	exitUnreachable = 7 // or too busy to answer, or it does not know the outcome
)

// defaultURL is where `lockstep serve` and `lockstep dev` listen unless they are told otherwise.
const defaultURL = "http://127.0.0.1:8081"

// Variables of the environment that name a server.
const (
	envURL   = "LOCKSTEP_URL"
	envToken = "LOCKSTEP_TOKEN"
)

// remoteFlags choose a server.
type remoteFlags struct{ context, url string }

func (f *remoteFlags) add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.context, "ctx", "", "the server by its `name` (\"lockstep ctx ls\" lists them)")
	cmd.PersistentFlags().StringVar(&f.url, "url", "", "the server by its `address`; the token then comes from "+envToken)
}

// target finds the server: flags first, then the environment, then the current context.
func (f *remoteFlags) target() (contextEntry, error) {
	token := os.Getenv(envToken)
	direct := contextEntry{URL: f.url, literal: token}
	switch {
	case f.url != "" && f.context != "":
		return contextEntry{}, usagef("--ctx and --url both name a server; give one of them")
	case f.url != "":
		return direct, nil
	case f.context == "" && os.Getenv(envURL) != "":
		direct.URL = os.Getenv(envURL)
		return direct, nil
	}
	known, err := readContexts()
	if err != nil {
		return contextEntry{}, err
	}
	name := f.context
	if name == "" {
		name = known.Current
	}
	if name == "" {
		direct.URL = defaultURL
		return direct, nil
	}
	entry, err := known.find(name)
	if err == nil && token != "" {
		entry.Token, entry.literal = "", token
	}
	return entry, err
}

// connect makes a client of the chosen server.
func (a *app) connect(f *remoteFlags) (*client.Client, error) {
	entry, err := f.target()
	if err != nil {
		return nil, err
	}
	token, err := entry.token()
	if err != nil {
		return nil, err
	}
	if token != "" && !protected(entry.URL) {
		fmt.Fprintf(a.err, "warning: the token goes to %s in the clear; use https\n", plain(entry.URL))
	}
	c, err := client.New(client.Options{URL: entry.URL, Token: token, UserAgent: "lockstep/" + readVersion().Version, Attempts: 3})
	if err != nil {
		return nil, usagef("%v", err)
	}
	return c, nil
}

// protected reports whether nobody on the way can read what goes to an address.
func protected(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Scheme == "https" || u.Scheme == "unix" || isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// remote is one use of a server by a command.
type remote struct {
	*app
	*client.Client
	ctx context.Context
}

// remotely makes what a command does out of something that needs a server.
func (a *app) remotely(f *remoteFlags, run func(r remote, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.connect(f)
		if err != nil {
			return err
		}
		defer c.Close()
		return remoteFailure(run(remote{a, c, cmd.Context()}, args))
	}
}

// group makes a command that only has others below it.
func (a *app) group(use, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// exactly asks for a number of arguments and names them.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return usagef("%s takes no argument %q", cmd.CommandPath(), args[len(names)])
		case len(args) < len(names):
			f := usagef("%s needs %s", cmd.CommandPath(), names[len(args)])
			f.hint = fmt.Sprintf("%q shows examples", cmd.CommandPath()+" --help")
			return f
		}
		return nil
	}
}

// remoteFailure finds the exit code and the words of what a server answered.
func remoteFailure(err error) error {
	var told *failure
	var problem *client.Problem
	var cut *client.UnreachableError
	switch {
	case errors.As(err, &told):
		return err
	case errors.As(err, &problem):
		return problemFailure(problem)
	case errors.As(err, &cut):
		return &failure{
			exit: exitUnreachable, code: "unreachable", title: "The server cannot be reached", detail: cut.Error(),
			hint:  fmt.Sprintf("start one with \"lockstep dev\", or name yours with \"lockstep ctx set NAME --url URL\", --url or %s", envURL),
			cause: err,
		}
	}
	return err
}

func problemFailure(p *client.Problem) *failure {
	f := &failure{exit: problemExit(p.Status), code: p.Code, title: p.Title, detail: p.Error(), hint: p.Hint, cause: p}
	f.extra = map[string]any{"status": p.Status}
	for _, e := range p.Errors {
		f.errors = append(f.errors, problemError{Pointer: e.Pointer, File: e.File, Line: e.Line, Column: e.Column, Code: e.Code, Message: e.Message, Hint: e.Hint})
		if !strings.Contains(f.detail, e.Message) { // of a single error it is the detail already
			f.more = append(f.more, errorLine(e))
		}
	}
	if strings.Contains(f.detail, f.hint) {
		f.hint = ""
	}
	if len(p.Allowed) > 0 {
		f.extra["allowed"] = p.Allowed
		if f.hint == "" {
			f.hint = "possible now: " + strings.Join(p.Allowed, ", ")
		}
	}
	for name, value := range map[string]string{"limit": p.Limit, "traceId": p.TraceID} {
		if value != "" {
			f.extra[name] = value
		}
	}
	if p.Count > 0 {
		f.extra["count"] = p.Count
	}
	if p.Status == http.StatusUnauthorized && f.hint == "" {
		f.hint = "set " + envToken + ", or give the server's context a token: \"lockstep ctx set NAME --token env:VARIABLE\""
	}
	return f
}

func problemExit(status int) int {
	switch status {
	case http.StatusBadRequest:
		return exitUsage
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitAuth
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return exitConflict
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return exitInvalid
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exitUnreachable
	}
	return exitError
}

// errorLine writes one of several errors: where, then what.
func errorLine(e client.ProblemError) string {
	where := e.Pointer
	switch {
	case e.Line > 0:
		where = dialect.Pos{File: e.File, Line: e.Line, Column: e.Column}.String()
	case e.Parameter != "":
		where = e.Parameter
	}
	var parts []string
	for _, part := range []string{where, e.Code, e.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, " ")
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}
