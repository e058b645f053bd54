package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) instCommand() *cobra.Command {
	var server remoteFlags
	cmd := a.group("inst", "Start, follow and control the instances of a server", `  lockstep inst start order --input '{"id":42}' --wait
  lockstep inst ls -q 'status:failed age:<1d'
  lockstep inst watch ID
  lockstep inst why ID
  lockstep inst retry -q 'status:failed error:Timeout'`)
	server.add(cmd)
	cmd.AddCommand(a.instStart(&server), a.instList(&server), a.instCount(&server), a.instGet(&server), a.instWatch(&server), a.instWait(&server),
		a.instHistory(&server), a.instOutput(&server), a.instWhy(&server), a.instCalls(&server), a.instAnswer(&server), a.instRestart(&server), a.instRemove(&server))
	cmd.AddCommand(a.instControls(&server)...)
	return cmd
}

// reconnect is how long a server may be away while its instance is waited for.
const reconnect = time.Minute

// patience is how long one request waits for an end; longer waits ask again.
const patience = 30 * time.Second

func (a *app) instStart(server *remoteFlags) *cobra.Command {
	var input, key string
	var wait bool
	var timeout waitLimit
	cmd := &cobra.Command{
		Use: "start DEFINITION[@VERSION]", Short: "Start an instance", Args: exactly("a definition"),
		Long: "Start prints the id of the new instance; with --wait it waits for its end and prints the output. Exit codes then: 10 failed,\n" +
			"11 cancelled or terminated, 12 not over in time. Ctrl-C ends the waiting, not the instance.",
		Example: `  lockstep inst start hello --input '{"name":"Ada"}' --wait
  lockstep inst start order@1.2 --input @order.json --key order-42
  ID=$(lockstep inst start order -o name)`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml", "name")
	cmd.Flags().StringVar(&input, "input", "", "the workflow input: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&key, "key", "", "with the same `key` again, the same instance is found instead of a second one started")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for its end and print its output")
	cmd.Flags().Var(&timeout, "timeout", "with --wait: give up after this `time` (PT1M or 1m)")
	cmd.ValidArgsFunction = a.completeDefinitions(server)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		if f := cmd.Flags().Lookup("input"); f.Changed && strings.TrimSpace(input) == "" {
			return usagef("--input is empty; is a variable not set?")
		}
		if timeout.text != "" && !wait {
			return usagef("--timeout says how long to wait; add --wait")
		}
		data, err := a.readInput(r.ctx, input)
		if err != nil {
			return err
		}
		id, version := splitVersion(args[0])
		start := client.Start{Input: client.Data(data.String()), Version: version, Key: key}
		in, err := r.StartInstance(r.ctx, id, start) // the wait comes after it: whoever is cut off then knows the id
		if err != nil {
			return err
		}
		if wait && !r.problems {
			fmt.Fprintf(r.err, "instance %s\n", in.ID)
		}
		if !wait {
			if output.value == "table" {
				_, err := fmt.Fprintln(a.out, in.ID)
				return err
			}
			return writeInstance(a, in, output.value)
		}
		if in, err = r.await(in, timeout); err != nil {
			return err
		}
		return r.result(in, output.value)
	})
	return cmd
}

// await waits until an instance is over. While the server does not answer, as when it is
// restarted, it asks again for a while.
func (r remote) await(in client.Instance, timeout waitLimit) (client.Instance, error) {
	ctx := r.ctx
	if deadline, ok := timeout.deadline(time.Now()); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	id := in.ID
	var broken time.Time // since when there is no answer
	for attempt := 0; !in.Over(); {
		wait := patience
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, max(time.Until(deadline), time.Millisecond))
		}
		next, err := r.GetInstance(ctx, id, wait)
		switch {
		case r.ctx.Err() != nil:
			r.goesOn(id)
			return in, r.ctx.Err()
		case errors.Is(err, context.DeadlineExceeded), err == nil && ctx.Err() != nil && !next.Over():
			f := &failure{exit: exitTimeout, code: "timeout", title: "Waiting took too long", detail: fmt.Sprintf("instance %s is %s after %s", id, in.Status, timeout.text)}
			f.hint = fmt.Sprintf("it goes on; \"lockstep inst why %s\" tells what it waits for", id)
			return in, f
		case client.Passing(err) && (broken.IsZero() || time.Since(broken) < reconnect):
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

// goesOn tells who interrupted that only the looking on has ended.
func (r remote) goesOn(id string) {
	if !r.problems {
		fmt.Fprintf(r.err, "instance %s goes on\n", id)
	}
}

// result writes the output of an instance that is over, or tells how else it ended.
func (r remote) result(in client.Instance, format string) error {
	if in.Status != client.Completed {
		return endFailure(in)
	}
	switch format {
	case "name":
		_, err := fmt.Fprintln(r.out, in.ID)
		return err
	case "yaml":
		return writeValue(r.out, in.Output, format)
	}
	_, err := fmt.Fprintln(r.out, string(in.Output))
	return err
}

// endFailure tells of an instance that did not complete.
func endFailure(in client.Instance) error {
	f := &failure{exit: exitCode(in), code: string(in.Status), title: "The instance did not complete", extra: map[string]any{"instance": in.ID}}
	switch {
	case in.Quarantine != "":
		f.code, f.detail = "quarantine", fmt.Sprintf("instance %s is set aside: %s", in.ID, firstLine(in.Quarantine))
		f.hint = "resume tries again, terminate gives it up"
	case in.Error != nil:
		f.detail = fmt.Sprintf("instance %s failed%s: %s", in.ID, inState(in.Error.Node), faultText(in.Error))
		f.extra["fault"] = in.Error
		f.hint = fmt.Sprintf("\"lockstep inst history %s\" tells what happened; \"lockstep inst retry %s\" goes on from there", in.ID, in.ID)
	default:
		f.detail = fmt.Sprintf("instance %s is %s", in.ID, in.Status)
	}
	return f
}

func inState(node string) string {
	if node == "" {
		return ""
	}
	return fmt.Sprintf(" in %q", node)
}

// faultText is a fault in one line.
func faultText(f *client.Fault) string {
	text := f.Name
	if f.Code != "" {
		text += " (" + f.Code + ")"
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// exitCode tells how an instance ended.
func exitCode(in client.Instance) int {
	switch {
	case in.Quarantine != "":
		return exitError
	case in.Status == client.Failed:
		return exitFailed
	case in.Status == client.Cancelled, in.Status == client.Terminated:
		return exitCancelled
	}
	return exitOK
}

func (a *app) instWait(server *remoteFlags) *cobra.Command {
	var timeout waitLimit
	cmd := &cobra.Command{
		Use: "wait ID", Short: "Wait until an instance is over", Args: exactly("the id of an instance"),
		Long: "Wait waits for the end of an instance and tells by its exit code how it ended: 0 completed, 10 failed, 11 cancelled or\n" +
			"terminated, 12 not over in time. Ctrl-C ends the waiting, not the instance.",
		Example: `  lockstep inst wait ID --timeout 5m && lockstep inst output ID`,
	}
	output := itemFlag(cmd)
	cmd.Flags().Var(&timeout, "timeout", "give up after this `time` (PT1M or 1m)")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		in, err := r.GetInstance(r.ctx, args[0], 0)
		if err != nil {
			return err
		}
		if in, err = r.await(in, timeout); err != nil {
			return err
		}
		if in.Status != client.Completed {
			return endFailure(in)
		}
		if output.value == "table" {
			_, err := fmt.Fprintf(a.out, "%s %s\n", in.ID, in.Status)
			return err
		}
		return writeInstance(a, in, output.value)
	})
	return cmd
}

func (a *app) instOutput(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output ID", Short: "Print the output of a completed instance", Args: exactly("the id of an instance"),
		Example: `  lockstep inst output ID | jq .total`,
	}
	output := outputFlag(cmd, "format", "json", "yaml")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		data, err := r.GetOutput(r.ctx, args[0])
		if err != nil {
			return err
		}
		return writeValue(a.out, data, output.value)
	})
	return cmd
}

func (a *app) instRestart(server *remoteFlags) *cobra.Command {
	var input, version, key string
	cmd := &cobra.Command{
		Use: "restart ID", Short: "Start a new instance with the input of another one", Args: exactly("the id of an instance"),
		Long: "Restart prints the id of the new instance, which is of the same version unless --version names another. The old one stays as it is.",
		Example: `  lockstep inst restart ID
  lockstep inst restart ID --version 1.4 --input @amended.json`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml", "name")
	cmd.Flags().StringVar(&input, "input", "", "instead of the old input: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&version, "version", "", "of this `version` instead")
	cmd.Flags().StringVar(&key, "key", "", "with the same `key` again, no second instance is started")
	cmd.ValidArgsFunction = a.completeInstances(server, "restart")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		how := client.Restart{Version: version, Key: key}
		if input != "" {
			data, err := a.readInput(r.ctx, input)
			if err != nil {
				return err
			}
			how.Input = client.Data(data.String())
		}
		in, err := r.RestartInstance(r.ctx, args[0], how)
		if err != nil {
			return err
		}
		if output.value == "table" {
			_, err := fmt.Fprintln(a.out, in.ID)
			return err
		}
		return writeInstance(a, in, output.value)
	})
	return cmd
}
