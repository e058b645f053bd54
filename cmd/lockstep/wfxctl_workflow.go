package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func (c *ctl) workflowGroup() *cobra.Command {
	return c.group("workflow", "Work with workflows", c.workflowCreate(), c.workflowDelete(), c.workflowGet(), c.workflowQuery(), c.workflowValidate())
}

func (c *ctl) workflowCreate() *cobra.Command {
	return &cobra.Command{
		Use: "create FILE… | -", Short: "Load workflows", Args: atLeastOne("a file with a workflow, or - for stdin"),
		Example: "  wfxctl workflow create kanban.yml",
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []client.Data
			for _, name := range args {
				doc, err := c.readDocument(cmd, name)
				if err != nil {
					return err
				}
				all = append(all, client.Data(doc.Root.Value().String()))
			}
			for _, workflow := range all {
				if err := c.send(cmd, north, client.JobsCall{Method: http.MethodPost, Path: []string{"workflows"}, Body: workflow}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// readDocument reads YAML or JSON.
func (c *ctl) readDocument(cmd *cobra.Command, name string) (*dialect.Document, error) {
	text, err := c.readText(cmd, name)
	if err != nil {
		return nil, err
	}
	name = inputName(name)
	doc, found := dialect.Read(name, text)
	if found.HasErrors() {
		for _, d := range found {
			if err := render(c.err, doc, d); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%s cannot be read", name)
	}
	if !doc.Root.Is(expr.KindObject) {
		return nil, fmt.Errorf("%s is not a workflow: it is no object", name)
	}
	return doc, nil
}

func (c *ctl) workflowDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete NAME…", Short: "Unload workflows to which no job refers"}
	named := cmd.Flags().StringSlice("name", nil, "the `name` of a workflow, as wfxctl 0.1 has it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args = append(args, *named...)
		if err := atLeastOne("the name of a workflow")(cmd, args); err != nil {
			return err
		}
		for _, name := range args {
			if err := c.send(cmd, north, client.JobsCall{Method: http.MethodDelete, Path: []string{"workflows", name}}); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

func (c *ctl) workflowGet() *cobra.Command {
	cmd := &cobra.Command{Use: "get", Short: "Show a workflow", Example: "  wfxctl workflow get --name=kanban"}
	name := cmd.Flags().String("name", "", "the `name` of the workflow")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *name == "" {
			return errors.New("workflow name missing: give --name")
		}
		return c.send(cmd, south, client.JobsCall{Method: http.MethodGet, Path: []string{"workflows", *name}})
	}
	return cmd
}

func (c *ctl) workflowQuery() *cobra.Command {
	var p paging
	cmd := &cobra.Command{Use: "query", Short: "List workflows", Args: atMost(0)}
	p.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		values, err := p.values()
		if err != nil {
			return err
		}
		return c.send(cmd, south, client.JobsCall{Method: http.MethodGet, Path: []string{"workflows"}, Query: values})
	}
	return cmd
}

// workflowDialect is the name of the dialect of workflows.
const workflowDialect = "wfx"

func (c *ctl) workflowValidate() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE… | -", Short: "Check workflows, without a server", Args: atLeastOne("a file with a workflow, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := 0
			for _, name := range args {
				text, err := c.readText(cmd, name)
				if err != nil {
					return err
				}
				name = inputName(name)
				compiled, found := c.registry().Compile(name, text, nil, dialect.Options{Dialect: workflowDialect})
				for _, d := range found {
					if err := render(c.err, compiled.Document, d); err != nil {
						return err
					}
				}
				if found.HasErrors() {
					wrong++
					fmt.Fprintln(c.out, "ERROR:", found[0].Message)
					continue
				}
				fmt.Fprintln(c.out, compiled.Program.ID, ": OK")
			}
			if wrong > 0 {
				return fmt.Errorf("%s invalid", plural(wrong, "workflow"))
			}
			return nil
		},
	}
}

func (c *ctl) health() *cobra.Command {
	cmd := &cobra.Command{Use: "health", Short: "Show whether the server is up, on both sides", Args: atMost(0)}
	mode := &choice{value: "auto", allowed: []string{"never", "always", "auto"}}
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
				continue // a socket is one way, and without TLS
			}
			asked.Go(func() { lines[i] = e.name + "\t" + c.up(cmd, e.side, e.tls, mode.value) })
		}
		asked.Wait()
		fmt.Fprint(c.out, "Health report:\n\n")
		for _, line := range lines {
			if line == "" {
				continue
			}
			if _, err := fmt.Fprintln(c.out, line); err != nil {
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
	if mode == "always" || mode == "auto" && color(c.out) {
		status = paint + status + "\x1b[0m"
	}
	if !strings.HasPrefix(address, "unix:") {
		address += devicesPath
	}
	return fmt.Sprintf("%s\t(%s)", status, address)
}

func (c *ctl) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of the server", Args: atMost(0),
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
				if member.Kind() == expr.KindString && member.Str() != "" { // a server need not know them all
					fmt.Fprintf(c.out, "%s: %s\n", m.name, plain(member.Str()))
				}
			}
			return nil
		},
	}
}
