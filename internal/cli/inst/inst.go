package inst

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// Command is `lockstep inst`.
func Command(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("inst", "Start, follow and control the instances of a server", `  lockstep inst start order --input '{"id":42}' --wait
  lockstep inst ls -q 'status:failed age:<1d'
  lockstep inst watch ID
  lockstep inst why ID
  lockstep inst retry -q 'status:failed error:Timeout'`)
	server.Add(cmd)
	cmd.AddCommand(start(a, &server), list(a, &server), count(a, &server), get(a, &server), watch(a, &server), wait(a, &server),
		history(a, &server), output(a, &server), why(a, &server), describe(a, &server), recordScenario(a, &server), calls(a, &server), answer(a, &server), restart(a, &server))
	cmd.AddCommand(controls(a, &server)...)
	for _, sub := range cmd.Commands() {
		sub.RunE = hintAtSearch(sub.RunE)
	}
	return cmd
}

// hintAtSearch adds to the failure for an id that does not exist how to find an instance by something else.
func hintAtSearch(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		f, ok := errors.AsType[*cli.Failure](err)
		if !ok || f.Exit != cli.ExitNotFound || f.Hint != "" {
			return err
		}
		for _, id := range args {
			if f.Detail == fmt.Sprintf("there is no instance %q", id) {
				f.Hint = fmt.Sprintf("this takes an id; \"lockstep inst ls -q key:%s\" finds an instance by its idempotency key, and -q %s by its name or a label, too", id, id)
			}
		}
		return err
	}
}

// reconnect is how long a server may be unreachable during a wait.
const reconnect = time.Minute

// patience is how long one request waits for an instance to end; longer waits take several requests.
const patience = 30 * time.Second

func start(a *cli.App, server *remote.Flags) *cobra.Command {
	var input string
	var options client.Start
	var labels []string
	var wait bool
	var timeout cli.Duration
	cmd := &cobra.Command{
		Use: "start DEFINITION[@VERSION]", Short: "Start an instance", Args: cli.Exactly("a definition"),
		Long: "Start prints the id of the new instance; with --wait it waits until the instance has ended and prints the output. Exit codes\n" +
			"then: 10 failed, 11 cancelled or terminated, 12 timeout. Ctrl-C ends the wait, not the instance.",
		Example: `  lockstep inst start greet --input '{"name":"Ada"}' --wait
  lockstep inst start order@1.2 --input @order.json --key order-42
  lockstep inst start order --id order-A-1038 --name 'Order A-1038' --label customer=ada
  ID=$(lockstep inst start order -o name)`,
	}
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&input, "input", "", "the workflow input: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&options.Key, "key", "", "idempotency `key`: a second start with the same key returns the same instance")
	cmd.Flags().StringVar(&options.ID, "id", "", "the `id` of the instance; a second start with the same id and input returns the same instance")
	cmd.Flags().StringVar(&options.Name, "name", "", "a `name` for people, in place of the definition's")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a label `key=value` to find the instance by; repeatable")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it has ended, and print its output")
	cmd.Flags().Var(&timeout, "timeout", "with --wait: give up after this `time` (PT1M or 1m)")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		if f := cmd.Flags().Lookup("input"); f.Changed && strings.TrimSpace(input) == "" {
			return cli.Usagef("--input is empty; is a variable not set?")
		}
		if timeout.Text != "" && !wait {
			return cli.Usagef("--timeout needs --wait")
		}
		for _, name := range []string{"id", "key", "name"} {
			if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
				return cli.Usagef("--%s is empty; is a variable not set?", name)
			}
		}
		if options.ID != "" && options.Key != "" {
			return cli.Usagef("give --id or --key, not both")
		}
		var err error
		start := options
		if start.Labels, err = labelsOf(labels); err != nil {
			return err
		}
		data, err := a.ReadInput(r.Ctx, input)
		if err != nil {
			return err
		}
		id, version := cli.SplitVersion(args[0])
		start.Input, start.Version = api.Data(data.String()), version
		in, err := r.StartInstance(r.Ctx, id, start) // wait in a second request: the user then knows the id if it is interrupted
		if err != nil {
			return err
		}
		if wait && !r.Problems {
			fmt.Fprintf(r.Err, "instance %s\n", in.ID)
		}
		if !wait {
			return writeNew(a, in, output)
		}
		if in, err = await(r, in, timeout); err != nil {
			return err
		}
		return result(r, in, output)
	})
	return cmd
}

// labelsOf reads labels.
func labelsOf(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, cli.Usagef("--label %q is not key=value", text)
		}
		if _, twice := out[name]; twice {
			return nil, cli.Usagef("--label %s is given twice", name)
		}
		out[name] = value
	}
	return out, nil
}

// writeNew writes an instance that was started: for people its id.
func writeNew(a *cli.App, in api.Instance, format *cli.Format) error {
	if format.Value == "table" {
		format = cli.AsFormat("name")
	}
	return write(a, in, format)
}

// await waits until an instance has ended. While the server does not respond, as during a restart, it retries
// for a while.
func await(r remote.Server, in api.Instance, timeout cli.Duration) (api.Instance, error) {
	ctx := r.Ctx
	if deadline, ok := timeout.Deadline(time.Now()); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	id := in.ID
	gauge := cli.NewGauge(r.App, "waiting for "+id)
	defer gauge.Stop()
	var broken time.Time // since when the server does not respond
	for attempt := 0; !in.Over(); {
		wait := patience
		if gauge.Shows() {
			wait = progressEvery
			done, total, note := progressOf(in)
			gauge.Set(done, total, note)
		}
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, max(time.Until(deadline), time.Millisecond))
		}
		next, err := r.GetInstance(ctx, id, wait)
		switch {
		case r.Ctx.Err() != nil:
			gauge.Stop()
			reportContinues(r, id)
			return in, r.Ctx.Err()
		case errors.Is(err, context.DeadlineExceeded), err == nil && ctx.Err() != nil && !next.Over():
			f := &cli.Failure{Exit: cli.ExitTimeout, Code: "timeout", Title: "Waiting took too long", Detail: fmt.Sprintf("instance %s is %s after %s", id, in.Status, timeout.Text)}
			f.Hint = fmt.Sprintf("it continues; \"lockstep inst why %s\" shows what it waits for", id)
			return in, f
		case client.IsTemporary(err) && (broken.IsZero() || time.Since(broken) < reconnect):
			if broken.IsZero() {
				broken = time.Now()
			}
			attempt++
			select {
			case <-ctx.Done(): // the next request says which
			case <-time.After(min(100*time.Millisecond<<min(attempt, 5), time.Second)):
			}
			continue
		case err != nil:
			return in, err
		}
		in, attempt, broken = next, 0, time.Time{}
	}
	return in, nil
}

// reportContinues says that the instance continues although the command was interrupted.
func reportContinues(r remote.Server, id string) {
	if !r.Problems {
		fmt.Fprintf(r.Err, "instance %s continues\n", id)
	}
}

// result writes the output of an instance that has ended, or returns how else it ended.
func result(r remote.Server, in api.Instance, format *cli.Format) error {
	if in.Status != api.Completed {
		return endFailure(in)
	}
	if format.Value == "name" {
		_, err := fmt.Fprintln(r.Out, in.ID)
		return err
	}
	return format.WriteData(r.Out, in.Output)
}

// endFailure is the error of an instance that did not complete.
func endFailure(in api.Instance) error {
	f := &cli.Failure{Exit: exitCode(in), Code: string(in.Status), Title: "The instance did not complete", Extra: map[string]any{"instance": in.ID}}
	switch {
	case in.Quarantine != "":
		f.Code, f.Detail = "quarantine", fmt.Sprintf("instance %s is in quarantine: %s", in.ID, cli.FirstLine(in.Quarantine))
		f.Hint = "resume retries it, terminate ends it"
	case in.Error != nil:
		f.Detail = fmt.Sprintf("instance %s failed%s: %s", in.ID, cli.InState(in.Error.Node), faultText(in.Error))
		f.Extra["fault"] = in.Error
		f.Hint = fmt.Sprintf("\"lockstep inst history %s\" shows what happened; \"lockstep inst retry %s\" continues from there", in.ID, in.ID)
		if len(in.Progress) > 0 {
			f.Hint = fmt.Sprintf("\"lockstep inst get %s\" lists the failed items; \"lockstep inst retry %s --failed-items\" runs only those again", in.ID, in.ID)
		}
	default:
		f.Detail = fmt.Sprintf("instance %s is %s", in.ID, in.Status)
	}
	return f
}

// faultText is a fault in one line.
func faultText(f *api.Fault) string {
	text := f.Name
	if f.Code != "" {
		text += " (" + f.Code + ")"
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Item != nil {
		text += fmt.Sprintf(" (item %s: %s)", cli.Grouped(f.Item.Index), cli.Short(string(f.Item.Value)))
	}
	return text
}

// exitCode is the exit code for how an instance ended.
func exitCode(in api.Instance) int {
	switch {
	case in.Quarantine != "":
		return cli.ExitError
	case in.Status == api.Failed:
		return cli.ExitFailed
	case in.Status == api.Cancelled, in.Status == api.Terminated:
		return cli.ExitCancelled
	}
	return cli.ExitOK
}

func wait(a *cli.App, server *remote.Flags) *cobra.Command {
	var timeout cli.Duration
	cmd := &cobra.Command{
		Use: "wait ID", Short: "Wait until an instance has ended", Args: cli.Exactly("the id of an instance"),
		Long: "Wait waits until an instance has ended. Exit codes: 0 completed, 10 failed, 11 cancelled or terminated, 12 timeout.\n" +
			"Ctrl-C ends the wait, not the instance.",
		Example: `  lockstep inst wait ID --timeout 5m && lockstep inst output ID`,
	}
	output := cli.ItemFlag(cmd)
	cmd.Flags().Var(&timeout, "timeout", "give up after this `time` (PT1M or 1m)")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		in, err := r.GetInstance(r.Ctx, args[0], 0)
		if err != nil {
			return err
		}
		if in, err = await(r, in, timeout); err != nil {
			return err
		}
		if in.Status != api.Completed {
			return endFailure(in)
		}
		if output.Value == "table" {
			_, err := fmt.Fprintf(a.Out, "%s %s\n", in.ID, in.Status)
			return err
		}
		return write(a, in, output)
	})
	return cmd
}

func output(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output ID", Short: "Print the output of a completed instance", Args: cli.Exactly("the id of an instance"),
		Example: `  lockstep inst output ID | jq .total`,
	}
	output := cli.FormatFlag(cmd, "json", "yaml")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		data, err := r.GetOutput(r.Ctx, args[0])
		if err != nil {
			return err
		}
		return output.WriteData(a.Out, data)
	})
	return cmd
}

func restart(a *cli.App, server *remote.Flags) *cobra.Command {
	var input, version, key string
	cmd := &cobra.Command{
		Use: "restart ID", Short: "Start a new instance with the input of another one", Args: cli.Exactly("the id of an instance"),
		Long: "Restart starts a new instance with the same input and prints its id. It has the same version unless --version is given; if another one is current, restart says so.\n" +
			"The old instance does not change.",
		Example: `  lockstep inst restart ID
  lockstep inst restart ID --version 1.4 --input @amended.json`,
	}
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&input, "input", "", "new input: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&version, "version", "", "use this `version` instead")
	cmd.Flags().StringVar(&key, "key", "", "idempotency `key`: a second restart with the same key starts nothing")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, api.VerbRestart)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		how := client.Restart{Version: version, Key: key}
		if input != "" {
			data, err := a.ReadInput(r.Ctx, input)
			if err != nil {
				return err
			}
			how.Input = api.Data(data.String())
		}
		in, err := r.RestartInstance(r.Ctx, args[0], how)
		if err != nil {
			return err
		}
		if version == "" {
			hintAtCurrent(r, in, args[0])
		}
		return writeNew(a, in, output)
	})
	return cmd
}

// hintAtCurrent says that an instance was restarted in another version than the current one: who has corrected a
// definition wants that one.
func hintAtCurrent(r remote.Server, in api.Instance, old string) {
	if r.Problems {
		return
	}
	current, err := r.GetDefinition(r.Ctx, in.Definition.ID, client.Version{})
	if err != nil || current.Version == in.Definition.Version {
		return // the instance runs: what cannot be read here is no reason to fail
	}
	fmt.Fprintf(r.Err, "it runs %s, as before; %s is current: lockstep inst restart %s --version %s\n", cli.Plain(cli.JoinVersion(in.Definition.ID, in.Definition.Version)),
		cli.Plain(current.Version), old, cli.Plain(current.Version))
}
