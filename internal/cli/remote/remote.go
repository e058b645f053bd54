package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// DefaultURL is the default address of `lockstep serve` and `lockstep dev`.
const DefaultURL = "http://127.0.0.1:8081"

// Flags select a server.
type Flags struct{ Context, URL string }

// Add adds the flags to a group of commands.
func (f *Flags) Add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.Context, "ctx", "", "the server by its `name` (\"lockstep ctx ls\" lists them)")
	cmd.PersistentFlags().StringVar(&f.URL, "url", "", "the server by its `address`; the token then comes from "+cli.EnvToken)
}

// Target finds the server: flags first, then the environment, then the current context.
func (f *Flags) Target() (Entry, error) {
	token := os.Getenv(cli.EnvToken)
	direct := Entry{URL: f.URL, literal: token}
	switch {
	case f.URL != "" && f.Context != "":
		return Entry{}, cli.Usagef("give either --ctx or --url, not both")
	case f.URL != "":
		return direct, nil
	case f.Context == "" && os.Getenv(cli.EnvURL) != "":
		direct.URL = os.Getenv(cli.EnvURL)
		return direct, nil
	}
	known, err := readContexts()
	if err != nil {
		return Entry{}, err
	}
	name := f.Context
	name = cmp.Or(name, known.Current)
	if name == "" {
		direct.URL = DefaultURL
		return direct, nil
	}
	entry, err := known.find(name)
	if err == nil && token != "" {
		entry.Token, entry.literal = "", token
	}
	return entry, err
}

// WithScheme is an address with the scheme that it was most likely meant to have: http for this machine, else https.
func WithScheme(address string) string {
	if address == "" || strings.Contains(address, "://") || strings.HasPrefix(address, "unix:") {
		return address
	}
	host, _, _ := strings.Cut(address, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if IsLoopback(strings.Trim(host, "[]")) {
		return "http://" + address
	}
	return "https://" + address
}

// Options are the client options for the selected server.
func (f *Flags) Options() (client.Options, error) {
	entry, err := f.Target()
	if err != nil {
		return client.Options{}, err
	}
	entry.URL = WithScheme(entry.URL)
	token, err := entry.ReadToken()
	return client.Options{URL: entry.URL, Token: token, UserAgent: "lockstep/" + version.Read().Version, Attempts: 3}, err
}

// Connect makes a client of the selected server.
func Connect(a *cli.App, f *Flags) (*client.Client, error) {
	options, err := f.Options()
	if err != nil {
		return nil, err
	}
	WarnClear(a, options.URL, options.Token)
	options.OnRetry = func(err error, wait time.Duration) {
		if wait >= time.Second && !a.Problems {
			fmt.Fprintf(a.Err, "trying again in %s: %s\n", cli.HumanDuration(wait), cli.Plain(err.Error()))
		}
	}
	c, err := client.New(options)
	if err != nil {
		return nil, cli.Usagef("%v", err)
	}
	return c, nil
}

// WarnClear warns of a token that is sent unencrypted.
func WarnClear(a *cli.App, address, token string) {
	if token != "" && !protected(address) {
		fmt.Fprintf(a.Err, "warning: the token is sent to %s unencrypted; use https\n", cli.Plain(address))
	}
}

// protected reports whether traffic to an address is encrypted or stays on this machine.
func protected(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Scheme == "https" || u.Scheme == "unix" || IsLoopback(u.Hostname())
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Server is the connection of a command to a server.
type Server struct {
	*cli.App
	*client.Client
	Ctx context.Context
}

// Run is the RunE of a command that needs a server.
func Run(a *cli.App, f *Flags, run func(r Server, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := Connect(a, f)
		if err != nil {
			return err
		}
		defer c.Close()
		return f.Explain(Failure(run(Server{a, c, cmd.Context()}, args)))
	}
}

// Explain adds to the failure of an unreachable server where its address came from, and what to do.
func (f *Flags) Explain(err error) error {
	_, unreachable := errors.AsType[*client.UnreachableError](err)
	failure, ok := errors.AsType[*cli.Failure](err)
	if !unreachable || !ok {
		return err
	}
	entry, targetErr := f.Target()
	switch {
	case targetErr != nil:
	case entry.name != "":
		failure.Hint = fmt.Sprintf("this is the context %q: check that its server is running at %s; \"lockstep ctx set %s --url URL\" changes the address, --ctx or --url selects another server",
			entry.name, entry.URL, entry.name)
	case f.URL != "":
		failure.Hint = "check that a server is running at the address of --url"
	case os.Getenv(cli.EnvURL) != "":
		failure.Hint = "check that a server is running at the address in " + cli.EnvURL + ", or select another with --ctx or --url"
	}
	return err
}

// Failure is the failure for an error of a server, with its exit code.
func Failure(err error) error {
	var f *cli.Failure
	var problem *client.Problem
	var cut *client.UnreachableError
	switch {
	case errors.As(err, &f):
		return err
	case errors.As(err, &problem):
		return ProblemFailure(problem)
	case errors.As(err, &cut):
		return &cli.Failure{
			Exit: cli.ExitUnreachable, Code: "unreachable", Title: "The server cannot be reached", Detail: cut.Error(),
			Hint:  fmt.Sprintf("start one with \"lockstep dev\", or name yours with \"lockstep ctx set NAME --url URL\", --url or %s", cli.EnvURL),
			Cause: err,
		}
	}
	return err
}

// ProblemFailure is the failure for a problem of a server.
func ProblemFailure(p *client.Problem) *cli.Failure {
	f := &cli.Failure{Exit: ProblemExit(p.Status), Code: string(p.Code), Title: p.Title, Detail: p.Error(), Hint: p.Hint, Cause: p}
	f.Extra = map[string]any{"status": p.Status}
	for _, e := range p.Errors {
		f.Errors = append(f.Errors, cli.ProblemError{ProblemDetail: e})
		if !strings.Contains(f.Detail, e.Message) { // of a single error it is the detail already
			f.More = append(f.More, errorLine(e))
		}
	}
	if strings.Contains(f.Detail, f.Hint) {
		f.Hint = ""
	}
	if len(p.Allowed) > 0 {
		f.Extra["allowed"] = p.Allowed
		if f.Hint == "" {
			f.Hint = "allowed now: " + strings.Join(p.Allowed, ", ")
		}
	}
	for name, value := range map[string]string{"limit": p.Limit, "traceId": p.TraceID} {
		if value != "" {
			f.Extra[name] = value
		}
	}
	if p.Count > 0 {
		f.Extra["count"] = p.Count
	}
	if p.Status == http.StatusUnauthorized { // the server's own hint names the header, which a command has no flag for
		f.Hint = "set " + cli.EnvToken + ", or give the server's context a token: \"lockstep ctx set NAME --token env:VARIABLE\""
	}
	return f
}

// ProblemExit is the exit code of a status; docs/cli.md has them in its table.
func ProblemExit(status int) int {
	switch status {
	case http.StatusBadRequest:
		return cli.ExitUsage
	case http.StatusUnauthorized, http.StatusForbidden:
		return cli.ExitAuth
	case http.StatusNotFound:
		return cli.ExitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return cli.ExitConflict
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return cli.ExitInvalid
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return cli.ExitUnreachable
	}
	return cli.ExitError
}

// errorLine is one of several errors in a line.
func errorLine(e api.ProblemDetail) string {
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

// DevicesPath is the path of the wfx API.
const DevicesPath = "/api/wfx/v1"

// Pages yields the items of a list page by page; limit is how many will be read, 0 all.
func Pages[T any](limit int, get func(client.Paging) (api.Page[T], error)) iter.Seq2[T, error] {
	size := 1000
	if limit > 0 {
		size = min(limit+1, size)
	}
	return client.All(func(after string) (api.Page[T], error) {
		return get(client.Paging{Limit: size, After: after})
	})
}
