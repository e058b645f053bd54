package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) instCalls(server *remoteFlags) *cobra.Command {
	var limit int
	var parked bool
	cmd := &cobra.Command{
		Use: "calls [ID]", Short: "List the function calls that have no answer yet", Args: atMost(1),
		Example: `  lockstep inst calls --parked
  lockstep inst calls ID -o json`,
	}
	output := listFlag(cmd)
	limitFlag(cmd, &limit)
	cmd.Flags().BoolVar(&parked, "parked", false, "only those that nothing can carry out: they wait for \"lockstep inst answer\"")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		rows := listing[client.Call]{
			columns: []string{"INSTANCE", "TICKET", "FUNCTION", "STATE", "ATTEMPT", "WAITS FOR AN ANSWER", "ARGUMENTS"},
			row: func(c client.Call) []string {
				return []string{c.Instance, c.Ticket, c.Function, c.Node, fmt.Sprint(c.Attempt), yes(c.Parked), short(string(c.Arguments))}
			},
			name: func(c client.Call) string { return c.Instance + " " + c.Ticket },
		}
		var err error
		var more bool
		rows.items, more, err = take(r.openCalls(strings.Join(args, ""), parked, limit), limit)
		if err != nil {
			return err
		}
		if len(rows.items) == 0 {
			a.none("open calls", output.value)
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

func (a *app) instAnswer(server *remoteFlags) *cobra.Command {
	var result, fault, code, detail string
	cmd := &cobra.Command{
		Use: "answer ID TICKET", Short: "Answer a function call by hand", Args: exactly("the id of an instance", "the ticket of the call"),
		Long: "Answer gives the result of a call that nothing here can carry out, or an error that the workflow can handle. \"lockstep inst calls\n" +
			"--parked\" lists them.",
		Example: `  lockstep inst answer ID 1.2 --result '{"paid":true}'
  lockstep inst answer ID 1.2 --error CardDeclined --code 402`,
	}
	output := itemFlag(cmd)
	cmd.Flags().StringVar(&result, "result", "", "what the function gives: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&fault, "error", "", "the `name` of the error that it fails with")
	cmd.Flags().StringVar(&code, "code", "", "the error's `code`")
	cmd.Flags().StringVar(&detail, "detail", "", "a `sentence` about the error")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		given := cmd.Flags().Changed
		if given("result") == given("error") {
			return usagef("an answer is either --result or --error")
		}
		if (given("code") || given("detail")) && !given("error") {
			return usagef("--code and --detail say more of an --error")
		}
		answer := client.Answer{Error: &client.CallError{Name: fault, Code: code, Detail: detail}}
		if given("result") {
			v, _, err := a.readData(r.ctx, "--result", result)
			if err != nil {
				return err
			}
			answer = client.Answer{Result: client.Data(v.String())}
		}
		in, err := r.AnswerCall(r.ctx, args[0], args[1], answer)
		if err != nil {
			return err
		}
		return writeInstance(a, in, output.value)
	})
	return cmd
}
