package job

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// creation are the flags of job create.
type creation struct {
	workflow, clientID, clients, definition, key string
	tags                                         []string
	filter                                       *string
}

func create(a *cli.App, server *Flags) *cobra.Command {
	var c creation
	cmd := &cobra.Command{
		Use: "create [FILE | -]", Short: "Create jobs", Args: cli.AtMost(1),
		Long: "Create creates a job for a client and prints its id. Its definition comes from --definition, a file, or stdin.\n" +
			"With --clients it creates one job for each client: a comma-separated list, or @FILE with one client a line. Everything is\n" +
			"checked before the first job is created. With --key, the same command again creates only what is missing.",
		Example: `  lockstep job create --workflow kanban --client-id dana --definition '{"title":"write docs"}'
  echo '{"url":"https://example.com/fw.bin"}' | lockstep job create --workflow firmware --client-id gate-7 --tag pilot -
  lockstep job create --workflow firmware --clients @fleet.txt --definition @firmware.json
  ID=$(lockstep job create --workflow kanban --client-id dana -o name)`,
	}
	output := cli.ListFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&c.workflow, "workflow", "", "the `name` of the workflow")
	f.StringVar(&c.clientID, "client-id", "", "the `client` of the job")
	f.StringVar(&c.clients, "clients", "", "several clients: `A,B,C`, @FILE with one client a line, or - for stdin")
	f.StringVar(&c.key, "key", "", "with --clients: idempotency `key`; the same command again creates no job twice")
	f.StringVar(&c.definition, "definition", "", "the definition of the job: `JSON`, @FILE, or - for stdin")
	wordsFlag(f, &c.tags, "tag", "a `tag`; repeatable")
	c.filter = jqFlag(cmd)
	CompleteFlag(server, cmd, "workflow", WorkflowWords)
	CompleteFlag(server, cmd, "client-id", clientWords)
	cmd.RunE = Run(a, server, func(r Server, args []string) error {
		if len(args) == 1 {
			if c.definition != "" {
				return cli.Usagef("give either %q or --definition, not both", args[0])
			}
			if c.definition = "@" + args[0]; args[0] == "-" {
				c.definition = "-"
			}
		}
		request, clients, err := c.request(r, cmd)
		switch {
		case err != nil:
			return err
		case clients != nil:
			many := api.JobsRequest{Workflow: request.Workflow, Clients: clients, Tags: request.Tags, Definition: request.Definition}
			return r.createAll(many, c.key, output)
		}
		call := client.JobsCall{Method: http.MethodPost, Path: []string{"jobs"}, Body: request}
		err = show(r, call, *c.filter, func(j api.Job) error {
			switch output.Value {
			case "table":
				_, err := fmt.Fprintln(a.Out, j.ID)
				return err
			case "jsonl":
				return cli.WriteJSONLine(a.Out, j)
			}
			return writeJob(a, j, output)
		})
		return NamedWorkflow(r.Ctx, r.Jobs, request.Workflow, err)
	})
	return cmd
}

// request is the request of the flags, and the clients of --clients.
func (c *creation) request(r Server, cmd *cobra.Command) (api.JobRequest, []string, error) {
	many := cmd.Flags().Changed("clients")
	out := api.JobRequest{ClientID: c.clientID, Workflow: c.workflow, Tags: c.tags}
	switch {
	case c.workflow == "":
		return out, nil, cli.Usagef("lockstep job create needs --workflow; \"lockstep def ls\" lists definitions")
	case many && c.clientID != "":
		return out, nil, cli.Usagef("give either --client-id or --clients, not both")
	case !many && c.key != "":
		return out, nil, cli.Usagef("--key goes with --clients")
	case many && *c.filter != "":
		return out, nil, cli.Usagef("--filter cannot be used with --clients")
	case many && c.clients == "-" && c.definition == "-":
		return out, nil, cli.Usagef("the clients and the definition cannot both come from stdin")
	case !many && c.clientID == "":
		return out, nil, cli.Usagef("lockstep job create needs --client-id, or --clients")
	case cmd.Flags().Changed("definition") && strings.TrimSpace(c.definition) == "":
		return out, nil, cli.Usagef("--definition is empty; is a variable not set?")
	}
	if c.definition != "" {
		v, given, err := r.ReadData(r.Ctx, "--definition", c.definition)
		switch {
		case err != nil:
			return out, nil, err
		case given && !v.IsObject():
			return out, nil, cli.Invalidf("the definition of a job must be a JSON object, not %s", v.Kind().WithArticle())
		case given:
			out.Definition = api.Data(v.String())
		}
	}
	if !many {
		return out, nil, nil
	}
	clients, err := r.ReadClients(c.clients)
	return out, clients, err
}

// ReadClients reads the value of --clients.
func (r Server) ReadClients(arg string) ([]string, error) {
	text, where := strings.ReplaceAll(arg, ",", "\n"), "--clients"
	if file, ok := strings.CutPrefix(arg, "@"); ok || arg == "-" {
		read, name, err := r.ReadText(r.Ctx, file)
		if err != nil {
			return nil, err
		}
		text, where = string(read), name
	}
	var out []string
	seen := map[string]int{}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		name := strings.TrimSpace(line)
		if name == "" && where == "--clients" {
			return nil, cli.Usagef("--clients %q: client %d is empty; is a variable not set?", arg, n)
		}
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			return nil, cli.Invalidf("%s:%d: client %q has control characters", where, n, name)
		}
		if before := seen[name]; before > 0 {
			return nil, cli.Invalidf("%s:%d: duplicate client %q, first at %d", where, n, name, before)
		}
		seen[name] = n
		out = append(out, name)
	}
	if len(out) == 0 {
		return nil, cli.Invalidf("%s has no client", where)
	}
	return out, nil
}

// CreateBatch is how many jobs one request creates.
const CreateBatch = 5000

// CreateMany creates a job for each client, in a few requests under one key: key and client identify the
// job. It returns the results up to the first error.
func (r Server) CreateMany(request api.JobsRequest, key string) (items []api.ClientJob, made int, err error) {
	if _, err := r.GetWorkflow(r.Ctx, request.Workflow); err != nil {
		return nil, 0, NamedWorkflow(r.Ctx, r.Jobs, request.Workflow, err)
	}
	bar := cli.NewBar(r.App, "created", len(request.Clients))
	defer bar.Finish()
	for batch := range slices.Chunk(request.Clients, CreateBatch) {
		request.Clients = batch
		got, err := r.native.CreateJobs(r.Ctx, request, key)
		if err != nil {
			return items, made, err
		}
		items, made = append(items, got.Items...), made+got.Created
		bar.Add(len(batch))
	}
	return items, made, nil
}

// createAll creates jobs and lists them.
func (r Server) createAll(request api.JobsRequest, key string, format *cli.Format) error {
	items, made, err := r.CreateMany(request, key)
	if !r.Problems && (err == nil || made > 0) {
		fmt.Fprintf(r.Err, "%s created, of %d\n", cli.Plural(made, "job"), len(request.Clients))
	}
	written := cli.Listing[api.ClientJob]{
		Columns: []string{"CLIENT", "JOB", "ERROR"},
		Row:     func(c api.ClientJob) []string { return []string{c.Client, c.ID, c.Error} },
		Name:    func(c api.ClientJob) string { return c.ID },
	}.Write(r.App, format, items)
	if written != nil {
		return written
	}
	for _, c := range items {
		if c.Error != "" && err == nil {
			err = fmt.Errorf("some jobs could not be created; client %q: %s", c.Client, c.Error)
		}
	}
	return err
}
