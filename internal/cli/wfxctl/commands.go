package wfxctl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// command is a command of wfxctl that sends requests.
type command struct {
	use, short string
	side       side
	request    string // method and path: {id} and {name} are flags, {arg} and {file} are each argument in turn
	flags      string // keys of flagTable; those of a GET request are parameters of its query
	args       cobra.PositionalArgs
	body       func(in *input) (any, error)
}

var (
	none  = cli.AtMost(0)
	files = cli.AtLeastOne("a file with a workflow, or - for stdin")
)

var jobCommands = []command{
	{
		"create [FILE | -]", "Create a job, with its definition from a file or stdin", north,
		"POST jobs", "client-id workflow tag", cli.AtMost(1), newJob,
	},
	{"get", "Show a job", south, "GET jobs/{id}", "id history", nil, nil},
	{"query", "List jobs", south, "GET jobs", "client-id group state workflow tag offset limit sort", none, nil},
	{
		"update-status", "Update a job's status", south,
		"PUT jobs/{id}/status", "id actor client-id state progress message", nil, newStatus,
	},
	{
		"update-definition", "Replace the definition of a job, from stdin or a file", north,
		"PUT jobs/{id}/definition", "id", nil, newDefinition,
	},
	{"get-status", "Show the status of a job", south, "GET jobs/{id}/status", "id", nil, nil},
	{"get-definition", "Show the definition of a job", south, "GET jobs/{id}/definition", "id", nil, nil},
	{"get-tags", "Show the tags of a job", south, "GET jobs/{id}/tags", "id", nil, nil},
	{"delete", "Delete a job", north, "DELETE jobs/{id}", "id", nil, nil},
	{"add-tags TAG…", "Add tags to a job", north, "POST jobs/{id}/tags", "id", nil, newTags},
	{"del-tags TAG…", "Remove tags from a job", north, "DELETE jobs/{id}/tags", "id", nil, newTags},
}

var workflowCommands = []command{
	{"create FILE… | -", "Load workflows", north, "POST workflows/{file}", "", files, newWorkflow},
	{"delete NAME…", "Unload workflows to which no job refers", north, "DELETE workflows/{arg}", "+name", nil, nil},
	{"get", "Show a workflow", south, "GET workflows/{name}", "name", nil, nil},
	{"query", "List workflows", south, "GET workflows", "offset limit sort", none, nil},
}

// flagTable has the flags of commands, with their defaults; a + makes a flag repeatable.
var flagTable = map[string]struct {
	value any
	usage string
}{
	"id":        {"", "the `id` of the job"},
	"name":      {"", "the `name` of the workflow"},
	"+name":     {[]string(nil), "the `name` of a workflow, as in wfxctl 0.1"},
	"client-id": {"", "the client of the job"},
	"workflow":  {"", "the name of the workflow"},
	"tag":       {[]string(nil), "a tag of the job; repeatable"},
	"group":     {[]string(nil), "a group of the job's state; repeatable"},
	"state":     {"", "the state of the job"},
	"history":   {false, "include its history"},
	"actor":     {api.ActorClient, "who moves it: CLIENT, the device, or WFX, the operator"},
	"progress":  {0, "progress in percent"},
	"message":   {"", "a message for people"},
	"offset":    {0, "how many to skip"},
	"limit":     {10, "how many at most"},
	"sort":      {"", "asc or desc"},
}

func addFlag(cmd *cobra.Command, key string) {
	name := strings.TrimPrefix(key, "+")
	switch value := flagTable[key].value.(type) {
	case string:
		cmd.Flags().String(name, value, flagTable[key].usage)
	case bool:
		cmd.Flags().Bool(name, value, flagTable[key].usage)
	case int:
		cmd.Flags().Int(name, value, flagTable[key].usage)
	case []string:
		cmd.Flags().StringArray(name, value, flagTable[key].usage)
	}
}

// input is the command line of one request.
type input struct {
	*ctl
	*cobra.Command
	side side
	args []string
	arg  string // the current argument, if there is one request for each
}

func (in *input) text(flag string) string { return text(in.Command, flag) }

func (in *input) list(flag string) []string {
	list, _ := in.Flags().GetStringArray(flag) // the table has it
	return list
}

// command makes a command of a row, which sends its requests one after the other.
func (row command) command(c *ctl) *cobra.Command {
	cmd := &cobra.Command{Use: row.use, Short: row.short, Args: row.args}
	for _, key := range strings.Fields(row.flags) {
		addFlag(cmd, key)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in := &input{ctl: c, Command: cmd, side: row.side, args: args}
		calls, err := row.calls(in)
		if err != nil {
			return err
		}
		for _, call := range calls {
			if err := c.send(cmd, in.side, call); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// calls are the requests of a command line: one, or one for each argument.
func (row command) calls(in *input) ([]client.JobsCall, error) {
	args := in.args
	switch {
	case strings.HasSuffix(row.request, "{file}"):
	case strings.HasSuffix(row.request, "{arg}"):
		for _, names := range in.list("name") {
			args = append(args, strings.Split(names, ",")...)
		}
		if err := cli.AtLeastOne("the name of a workflow")(in.Command, args); err != nil {
			return nil, err
		}
	default:
		args = []string{""}
	}
	var all []client.JobsCall
	for _, arg := range args {
		in.arg = arg
		call, err := row.call(in)
		if err != nil {
			return nil, err
		}
		all = append(all, call)
	}
	return all, nil
}

func (row command) call(in *input) (call client.JobsCall, err error) {
	method, path, _ := strings.Cut(row.request, " ")
	call.Method = method
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "{file}":
			continue
		case "{arg}":
			part = in.arg
		case "{id}", "{name}":
			flag := strings.Trim(part, "{}")
			part = in.text(flag)
			if part == "" {
				return call, fmt.Errorf("%s missing: give --%s", strings.Replace(flag, "name", "workflow name", 1), flag)
			}
		}
		call.Path = append(call.Path, part)
	}
	switch {
	case method == http.MethodGet:
		call.Query, err = in.query(row.flags)
	case row.body != nil:
		call.Body, err = row.body(in)
	}
	return call, err
}

// query has the flags that have a value, by the names of parameters: client-id is clientId.
func (in *input) query(flags string) (url.Values, error) {
	out := url.Values{}
	for _, flag := range strings.Fields(flags) {
		value := in.text(flag)
		switch flag {
		case "id", "name":
			continue
		case "group", "tag":
			value = strings.Join(in.list(flag), ",")
		case "sort":
			value = cmp.Or(strings.ToLower(value), "asc")
			if value != "asc" && value != "desc" {
				return nil, fmt.Errorf("invalid sort value: %s; it must be asc or desc", in.text(flag))
			}
		}
		if value != "" {
			out.Set(strings.Replace(flag, "-id", "Id", 1), value)
		}
	}
	return out, nil
}

func newJob(in *input) (any, error) {
	job := api.JobRequest{ClientID: in.text("client-id"), Workflow: in.text("workflow"), Tags: in.list("tag")}
	if len(in.args) == 0 {
		fmt.Fprintln(in.Err, "warning: the job gets no definition; give a file, or - for stdin")
		return job, nil
	}
	text, name, err := in.ReadText(in.Context(), in.args[0])
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, fmt.Errorf("the definition in %s is not a JSON object", name)
	}
	job.Definition = text
	return job, nil
}

func newStatus(in *input) (any, error) {
	switch actor := in.text("actor"); strings.ToUpper(actor) {
	case api.ActorClient:
	case api.ActorOperator:
		in.side = north
	default:
		return nil, fmt.Errorf("invalid actor: %s; it must be %s or %s", actor, api.ActorClient, api.ActorOperator)
	}
	progress, err := in.Flags().GetInt("progress")
	return api.JobStatus{
		ClientID: in.text("client-id"), State: in.text("state"), Progress: &progress, Message: in.text("message"),
	}, err
}

func newDefinition(in *input) (any, error) {
	text, _, err := in.ReadText(in.Context(), append(in.args, "-")[0])
	if err == nil && !json.Valid(text) {
		err = errors.New("the new definition is not JSON")
	}
	return api.Data(text), err
}

func newTags(in *input) (any, error) {
	if len(in.args) == 0 {
		return nil, fmt.Errorf("%s needs a tag", in.CommandPath())
	}
	return in.args, nil
}

// newWorkflow reads a workflow in YAML or JSON.
func newWorkflow(in *input) (any, error) {
	text, name, err := in.ReadText(in.Context(), in.arg)
	if err != nil {
		return nil, err
	}
	doc, found := dialect.Read(name, text)
	if found.HasErrors() {
		for _, d := range found {
			if err := cli.Render(in.Err, doc, d); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%s cannot be read", name)
	}
	if !doc.Root.Is(expr.KindObject) {
		return nil, fmt.Errorf("%s is not a workflow: it is not an object", name)
	}
	return api.Data(doc.Root.Value().String()), nil
}
