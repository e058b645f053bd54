package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (c *ctl) jobGroup() *cobra.Command {
	return c.group("job", "Work with jobs",
		c.jobCreate(), c.jobGet(), c.jobQuery(), c.jobUpdateStatus(), c.jobUpdateDefinition(), c.jobEvents(),
		c.answer("get-status", "Show the status of a job", south, client.JobsCall{Method: http.MethodGet}, "status"),
		c.answer("get-definition", "Show the definition of a job", south, client.JobsCall{Method: http.MethodGet}, "definition"),
		c.answer("get-tags", "Show the tags of a job", south, client.JobsCall{Method: http.MethodGet}, "tags"),
		c.answer("delete", "Delete a job", north, client.JobsCall{Method: http.MethodDelete}),
		c.jobTags("add-tags", "Add tags to a job", http.MethodPost),
		c.jobTags("del-tags", "Remove tags from a job", http.MethodDelete))
}

func (c *ctl) jobCreate() *cobra.Command {
	var job client.JobRequest
	cmd := &cobra.Command{
		Use: "create [FILE | -]", Short: "Create a job, with its definition from a file or stdin", Args: atMost(1),
		Example: `  echo '{"title":"write docs"}' | wfxctl job create --client-id=dana --workflow=kanban -`,
	}
	f := cmd.Flags()
	f.StringVar(&job.ClientID, "client-id", "", "the client that is to do it")
	f.StringVar(&job.Workflow, "workflow", "", "the name of the workflow")
	f.StringArrayVar(&job.Tags, "tag", nil, "a tag; repeatable")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			fmt.Fprintln(c.err, "warning: the job gets no definition; give a file, or - for stdin")
			return c.send(cmd, north, client.JobsCall{Method: http.MethodPost, Path: []string{"jobs"}, Body: job})
		}
		text, err := c.readText(cmd, args[0])
		if err != nil {
			return err
		}
		if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return fmt.Errorf("the definition in %s is not a JSON object", inputName(args[0]))
		}
		job.Definition = text
		return c.send(cmd, north, client.JobsCall{Method: http.MethodPost, Path: []string{"jobs"}, Body: job})
	}
	return cmd
}

// inputName is how a file that is read is told to people.
func inputName(arg string) string {
	if arg == "-" {
		return stdinName
	}
	return arg
}

// readText reads a file, or stdin.
func (c *ctl) readText(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return c.stdin(cmd.Context())
	}
	return readFile(cmd.Context(), name)
}

func (c *ctl) jobGet() *cobra.Command {
	var history bool
	cmd := c.job("get", "Show a job", func(cmd *cobra.Command, id string, _ []string) error {
		return c.send(cmd, south, client.JobsCall{Method: http.MethodGet, Path: []string{"jobs", id}, Query: url.Values{"history": {strconv.FormatBool(history)}}})
	})
	cmd.Flags().BoolVar(&history, "history", false, "with its history")
	return cmd
}

// paging are the flags of the two queries. All of them are always sent.
type paging struct {
	limit  int32
	offset int64
	sort   string
}

func (p *paging) add(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&p.offset, "offset", 0, "how many to leave out")
	cmd.Flags().Int32Var(&p.limit, "limit", 10, "how many at most")
	cmd.Flags().StringVar(&p.sort, "sort", "", "asc or desc")
}

func (p *paging) values() (url.Values, error) {
	order := strings.ToLower(p.sort)
	switch order {
	case "":
		order = "asc"
	case "asc", "desc":
	default:
		return nil, fmt.Errorf("invalid sort value: %s; it must be asc or desc", p.sort)
	}
	return url.Values{"limit": {strconv.Itoa(int(p.limit))}, "offset": {strconv.FormatInt(p.offset, 10)}, "sort": {order}}, nil
}

func (c *ctl) jobQuery() *cobra.Command {
	var p paging
	cmd := &cobra.Command{Use: "query", Short: "List jobs", Args: atMost(0), Example: "  wfxctl job query --group=OPEN --client-id=dana"}
	f := cmd.Flags()
	clientID := f.String("client-id", "", "jobs of this client")
	groups := f.StringSlice("group", nil, "jobs in a state of one of these groups")
	state := f.String("state", "", "jobs in this state")
	workflow := f.String("workflow", "", "jobs of this workflow")
	tags := f.StringSlice("tag", nil, "jobs with one of these tags")
	p.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		values, err := p.values()
		if err != nil {
			return err
		}
		for name, value := range map[string]string{"clientId": *clientID, "state": *state, "workflow": *workflow, "group": strings.Join(*groups, ","), "tag": strings.Join(*tags, ",")} {
			if value != "" {
				values.Set(name, value)
			}
		}
		return c.send(cmd, south, client.JobsCall{Method: http.MethodGet, Path: []string{"jobs"}, Query: values})
	}
	return cmd
}

func (c *ctl) jobUpdateStatus() *cobra.Command {
	var status client.JobStatus
	var actor string
	progress := 0
	cmd := c.job("update-status", "Report on a job, and so lead it to a state", func(cmd *cobra.Command, id string, _ []string) error {
		status.Progress = &progress
		side := north
		switch strings.ToUpper(actor) {
		case client.ActorClient:
			side = south
		case client.ActorOperator:
		default:
			return fmt.Errorf("invalid actor: %s; it must be %s or %s", actor, client.ActorClient, client.ActorOperator)
		}
		return c.send(cmd, side, client.JobsCall{Method: http.MethodPut, Path: []string{"jobs", id, "status"}, Body: status})
	})
	f := cmd.Flags()
	f.StringVar(&actor, "actor", client.ActorClient, "who moves it: CLIENT, the device, or WFX, the operator")
	f.StringVar(&status.ClientID, "client-id", "", "the client that reports")
	f.StringVar(&status.State, "state", "", "the state to lead it to, or the one it is in")
	f.IntVar(&progress, "progress", 0, "how far it is, in percent")
	f.StringVar(&status.Message, "message", "", "a sentence for people")
	return cmd
}

func (c *ctl) jobUpdateDefinition() *cobra.Command {
	return c.job("update-definition", "Replace the definition of a job by what comes from stdin", func(cmd *cobra.Command, id string, args []string) error {
		name := "-"
		if len(args) > 0 {
			name = args[0]
		}
		text, err := c.readText(cmd, name)
		if err != nil {
			return err
		}
		if !json.Valid(text) {
			return errors.New("the new definition is not JSON")
		}
		return c.send(cmd, north, client.JobsCall{Method: http.MethodPut, Path: []string{"jobs", id, "definition"}, Body: client.Data(text)})
	})
}

func (c *ctl) jobTags(use, short, method string) *cobra.Command {
	return c.job(use+" TAG…", short, func(cmd *cobra.Command, id string, tags []string) error {
		if len(tags) == 0 {
			return fmt.Errorf("%s needs a tag", cmd.CommandPath())
		}
		return c.send(cmd, north, client.JobsCall{Method: method, Path: []string{"jobs", id, "tags"}, Body: tags})
	})
}

// withoutEnd is how long to try to reconnect where there is no limit.
const withoutEnd = 100 * 365 * 24 * time.Hour

func (c *ctl) jobEvents() *cobra.Command {
	var q client.JobEventQuery
	var again bool
	cmd := &cobra.Command{Use: "events", Short: "Follow what happens to jobs", Args: atMost(0), Example: "  wfxctl job events --client-id=dana --auto-reconnect"}
	f := cmd.Flags()
	f.StringSliceVar(&q.JobIDs, "job-id", nil, "the job with this id")
	f.StringSliceVar(&q.ClientIDs, "client-id", nil, "jobs of this client")
	f.StringSliceVar(&q.Workflows, "workflow", nil, "jobs of this workflow")
	f.StringSliceVar(&q.Tags, "tag", nil, "a word that comes back with every event")
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
			q.Broke = func(error) { fmt.Fprintln(c.err, "SSE connection lost. Attempting to reconnect") }
		}
		for e, err := range j.JobEvents(cmd.Context(), q) {
			switch {
			case err != nil && cmd.Context().Err() != nil:
				return shown(exitError)
			case err != nil:
				return c.refused(err)
			case e.Kind == client.StreamReady:
				fmt.Fprintln(c.err, "SSE connection established")
			default:
				if _, err := io.WriteString(c.out, string(e.Text)+"\n"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cmd
}
