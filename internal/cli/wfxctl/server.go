package wfxctl

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
)

// withoutEnd is how long to try to reconnect without a limit.
const withoutEnd = 100 * 365 * 24 * time.Hour

func (c *ctl) events() *cobra.Command {
	var q client.JobEventQuery
	var again bool
	cmd := &cobra.Command{
		Use: "events", Short: "Follow the events of jobs", Args: cli.AtMost(0),
		Example: "  wfxctl job events --client-id=dana --auto-reconnect",
	}
	f := cmd.Flags()
	f.StringSliceVar(&q.JobIDs, "job-id", nil, "the job with this id")
	f.StringSliceVar(&q.ClientIDs, "client-id", nil, "jobs of this client")
	f.StringSliceVar(&q.Workflows, "workflow", nil, "jobs of this workflow")
	f.StringSliceVar(&q.Tags, "tag", nil, "a word that the server returns with every event")
	f.BoolVar(&again, "auto-reconnect", false, "connect again when the connection breaks")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		j, err := c.connect(cmd, south, 0)
		if err != nil {
			return err
		}
		defer j.Close()
		q.Patience = -1
		if again {
			q.Patience = withoutEnd
			q.Broke = func(error) { fmt.Fprintln(c.Err, "SSE connection lost. Attempting to reconnect") }
		}
		for e, err := range j.JobEvents(cmd.Context(), q) {
			switch {
			case err != nil && cmd.Context().Err() != nil:
				return cli.Shown(cli.ExitError)
			case err != nil:
				return c.refused(err)
			case e.Kind == api.StreamReady:
				fmt.Fprintln(c.Err, "SSE connection established")
			default:
				if _, err := io.WriteString(c.Out, string(e.Text)+"\n"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cmd
}

// workflowDialect is the name of the dialect of workflows.
const workflowDialect = "wfx"

func (c *ctl) validate() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE… | -", Short: "Check workflows, without a server", Args: files,
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := 0
			for _, name := range args {
				text, name, err := c.ReadText(cmd.Context(), name)
				if err != nil {
					return err
				}
				compiled, found := dialects.All().Compile(name, text, nil, dialect.Options{Dialect: workflowDialect})
				for _, d := range found {
					if err := cli.Render(c.Err, compiled.Document, d); err != nil {
						return err
					}
				}
				if found.HasErrors() {
					wrong++
					fmt.Fprintln(c.Out, "ERROR:", found[0].Message)
					continue
				}
				fmt.Fprintln(c.Out, compiled.Program.ID, ": OK")
			}
			if wrong > 0 {
				return fmt.Errorf("%s invalid", cli.Plural(wrong, "workflow"))
			}
			return nil
		},
	}
}

func (c *ctl) health() *cobra.Command {
	cmd := &cobra.Command{Use: "health", Short: "Show whether the server is up, on both sides", Args: cli.AtMost(0)}
	mode := &cli.Choice{Value: "auto", Allowed: []string{"never", "always", "auto"}}
	cmd.Flags().Var(mode, "color", "whether to use colours")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		endpoints := []struct {
			name string
			side side
			tls  bool
		}{{"northbound", north, false}, {"southbound", south, false}, {"northbound_tls", north, true}, {"southbound_tls", south, true}}
		lines := make([]string, len(endpoints))
		var asked sync.WaitGroup
		for i, e := range endpoints {
			if e.tls && c.socket(cmd, e.side) != "" {
				continue // a socket has no TLS
			}
			asked.Go(func() { lines[i] = e.name + "\t" + c.up(cmd, e.side, e.tls, mode.Value) })
		}
		asked.Wait()
		fmt.Fprint(c.Out, "Health report:\n\n")
		for _, line := range lines {
			if line == "" {
				continue
			}
			if _, err := fmt.Fprintln(c.Out, line); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

func (c *ctl) up(cmd *cobra.Command, side side, tls bool, mode string) string {
	address := c.address(cmd, side, tls)
	status, paint := "down", "\x1b[31m"
	if j, err := c.dial(cmd, address, requestTimeout); err == nil {
		defer j.Close()
		if _, err := j.Health(cmd.Context()); err == nil {
			status, paint = "up", "\x1b[32m"
		}
	}
	if mode == "always" || mode == "auto" && cli.Color(c.Out) {
		status = paint + status + "\x1b[0m"
	}
	if !strings.HasPrefix(address, "unix:") {
		address += remote.DevicesPath
	}
	return fmt.Sprintf("%s\t(%s)", status, address)
}

func (c *ctl) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of the server", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := c.connect(cmd, south, requestTimeout)
			if err != nil {
				return err
			}
			defer j.Close()
			text, err := j.ServerVersion(cmd.Context())
			if err != nil {
				return c.refused(err)
			}
			v, err := expr.ParseJSON(text)
			if err != nil {
				return fmt.Errorf("the version of the server cannot be read: %w", err)
			}
			for _, m := range []struct{ name, key string }{{"   version", "version"}, {"    commit", "commit"}, {" buildDate", "buildDate"}, {"apiVersion", "apiVersion"}} {
				member, _ := v.Get(m.key)
				if member.Kind() == expr.KindString && member.Str() != "" { // a server may not have all of them
					fmt.Fprintf(c.Out, "%s: %s\n", m.name, cli.Plain(member.Str()))
				}
			}
			return nil
		},
	}
}
