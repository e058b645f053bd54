package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// jobCreation are the flags of job create.
type jobCreation struct {
	workflow, clientID, clients, definition, filter, key string
	tags                                                 []string
}

func (a *app) jobCreate(server *jobFlags) *cobra.Command {
	var c jobCreation
	cmd := &cobra.Command{
		Use: "create [FILE | -]", Short: "Create jobs", Args: atMost(1),
		Long: "Create makes a job for a client and prints its id. What the job is about, its definition, comes from --definition, a file, or stdin.\n" +
			"With --clients it makes one for each of many: a list by commas, or @FILE with one client a line. Everything is checked before the first\n" +
			"is made. With --key, the same command again makes only what is missing.",
		Example: `  lockstep job create --workflow kanban --client-id dana --definition '{"title":"write docs"}'
  echo '{"url":"https://example.com/fw.bin"}' | lockstep job create --workflow firmware --client-id gate-7 --tag pilot -
  lockstep job create --workflow firmware --clients @fleet.txt --definition @firmware.json
  ID=$(lockstep job create --workflow kanban --client-id dana -o name)`,
	}
	output := listFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&c.workflow, "workflow", "", "the `name` of the workflow")
	f.StringVar(&c.clientID, "client-id", "", "the `client` that is to do it")
	f.StringVar(&c.clients, "clients", "", "many clients: `A,B,C` or @FILE with one a line, or - for stdin")
	f.StringVar(&c.key, "key", "", "with --clients: with the same `key` again, jobs are found instead of made a second time")
	f.StringVar(&c.definition, "definition", "", "what the job is about: `JSON`, @FILE, or - for stdin")
	f.Var((*wordList)(&c.tags), "tag", "a `tag`; repeatable")
	jqFlag(cmd, &c.filter)
	a.completeFlag(server, cmd, "workflow", workflowWords)
	a.completeFlag(server, cmd, "client-id", clientWords)
	cmd.RunE = a.jobly(server, func(r jobRemote, args []string) error {
		if len(args) == 1 {
			if c.definition != "" {
				return usagef("%q and --definition both say what the job is about; give one of them", args[0])
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
			many := client.JobsRequest{Workflow: request.Workflow, Tags: request.Tags, Definition: request.Definition, Key: c.key}
			return r.createAll(many, clients, output.value)
		case c.filter != "":
			err := r.filtered(client.JobsCall{Method: "POST", Path: []string{"jobs"}, Body: request, Filter: c.filter})
			return namedWorkflow(r.ctx, r.Jobs, request.Workflow, err)
		}
		j, err := r.CreateJob(r.ctx, request)
		if err != nil {
			return namedWorkflow(r.ctx, r.Jobs, request.Workflow, err)
		}
		if output.value == "table" {
			_, err := fmt.Fprintln(a.out, j.ID)
			return err
		}
		if output.value == "jsonl" {
			return writeJSONLine(a.out, j)
		}
		return writeJob(a, j, output.value)
	})
	return cmd
}

// request is what the flags ask for, and the clients where there are many.
func (c *jobCreation) request(r jobRemote, cmd *cobra.Command) (client.JobRequest, []string, error) {
	many := cmd.Flags().Changed("clients")
	out := client.JobRequest{ClientID: c.clientID, Workflow: c.workflow, Tags: c.tags}
	switch {
	case c.workflow == "":
		return out, nil, usagef("lockstep job create needs --workflow; \"lockstep def ls\" lists definitions")
	case many && c.clientID != "":
		return out, nil, usagef("--client-id and --clients both say for whom; give one of them")
	case !many && c.key != "":
		return out, nil, usagef("--key goes with --clients")
	case many && c.filter != "":
		return out, nil, usagef("--filter is for the answer to one job; with --clients there are many")
	case many && c.clients == "-" && c.definition == "-":
		return out, nil, usagef("the clients and the definition cannot both come from stdin")
	case !many && c.clientID == "":
		return out, nil, usagef("lockstep job create needs --client-id, or --clients")
	case cmd.Flags().Changed("definition") && strings.TrimSpace(c.definition) == "":
		return out, nil, usagef("--definition is empty; is a variable not set?")
	}
	if c.definition != "" {
		v, given, err := r.readData(r.ctx, "--definition", c.definition)
		switch {
		case err != nil:
			return out, nil, err
		case given && !v.IsObject():
			return out, nil, invalidf("the definition of a job must be a JSON object, not %s", v.Kind())
		case given:
			out.Definition = client.Data(v.String())
		}
	}
	if !many {
		return out, nil, nil
	}
	clients, err := r.readClients(c.clients)
	return out, clients, err
}

// readClients reads the value of --clients.
func (r jobRemote) readClients(arg string) ([]string, error) {
	text, where := strings.ReplaceAll(arg, ",", "\n"), "--clients"
	switch {
	case arg == "-":
		read, err := r.stdin(r.ctx)
		if err != nil {
			return nil, err
		}
		text, where = string(read), "stdin"
	case strings.HasPrefix(arg, "@"):
		read, err := readFile(r.ctx, arg[1:])
		if err != nil {
			return nil, err
		}
		text, where = string(read), arg[1:]
	}
	var out []string
	seen := map[string]int{}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		name := strings.TrimSpace(line)
		if name == "" && where == "--clients" {
			return nil, usagef("--clients %q: the client at %d is empty; is a variable not set?", arg, n)
		}
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			return nil, invalidf("%s:%d: %q cannot be a client: it has control characters", where, n, name)
		}
		if before := seen[name]; before > 0 {
			return nil, invalidf("%s:%d: client %q is there already, at %d", where, n, name, before)
		}
		seen[name] = n
		out = append(out, name)
	}
	if len(out) == 0 {
		return nil, invalidf("%s names no client", where)
	}
	return out, nil
}

// createBatch is how many jobs are asked for at a time.
const createBatch = 5000

// createMany makes a job for each client, in a few requests, and returns what became of each as far as
// it came.
func (r jobRemote) createMany(request client.JobsRequest, clients []string) (items []client.ClientJob, made int, err error) {
	if _, err := r.GetWorkflow(r.ctx, request.Workflow); err != nil {
		return nil, 0, namedWorkflow(r.ctx, r.Jobs, request.Workflow, err)
	}
	bar := newBar(r.app, "created", len(clients))
	defer bar.finish()
	for batch := range slices.Chunk(clients, createBatch) {
		request.Clients = batch // under one key: a job follows from the key and its client, wherever the client stands
		got, err := r.native.CreateJobs(r.ctx, request)
		if err != nil {
			return items, made, err
		}
		items, made = append(items, got.Items...), made+got.Created
		bar.add(len(batch))
	}
	return items, made, nil
}

// createAll makes jobs and tells of each.
func (r jobRemote) createAll(request client.JobsRequest, clients []string, format string) error {
	items, made, err := r.createMany(request, clients)
	rows := listing[client.ClientJob]{
		columns: []string{"CLIENT", "JOB", "ERROR"},
		row:     func(c client.ClientJob) []string { return []string{c.Client, c.ID, c.Error} },
		name:    func(c client.ClientJob) string { return c.ID },
		items:   items,
	}
	if !r.problems && (err == nil || made > 0) {
		fmt.Fprintf(r.err, "%s created, of %d\n", plural(made, "job"), len(clients))
	}
	if told := rows.write(r.app, format); told != nil {
		return told
	}
	for _, c := range items {
		if c.Error != "" && err == nil {
			err = fmt.Errorf("not every job could be created; client %q: %s", c.Client, c.Error)
		}
	}
	return err
}

// inParallel does something for each of n things, some at a time; the first error ends it and is returned.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(bulkWorkers, n) {
		workers.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
