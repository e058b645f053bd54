package inst

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func calls(a *cli.App, server *remote.Flags) *cobra.Command {
	var parked bool
	cmd := &cobra.Command{
		Use: "calls [ID]", Short: "List the function calls without an answer", Args: cli.AtMost(1),
		Example: `  lockstep inst calls --parked
  lockstep inst calls ID -o json`,
	}
	flags := cli.AddListFlags(cmd, 50)
	cmd.Flags().BoolVar(&parked, "parked", false, "only calls without an implementation, which wait for \"lockstep inst answer\"")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		return cli.Listing[api.Call]{
			What:    "open calls",
			Columns: []string{"INSTANCE", "TICKET", "FUNCTION", "STATE", "ATTEMPT", "WAITS FOR AN ANSWER", "ARGUMENTS"},
			Row: func(c api.Call) []string {
				return []string{c.Instance, c.Ticket, c.Function, c.Node, fmt.Sprint(c.Attempt), cli.Yes(c.Parked), cli.Short(string(c.Arguments))}
			},
			Name: func(c api.Call) string { return c.Instance + " " + c.Ticket },
		}.WriteSome(a, flags, remote.Pages(flags.Limit, func(p client.Paging) (api.Page[api.Call], error) {
			return r.ListCalls(r.Ctx, client.CallQuery{Paging: p, Instance: strings.Join(args, ""), Parked: parked})
		}))
	})
	return cmd
}

func answer(a *cli.App, server *remote.Flags) *cobra.Command {
	var result, fault, code, detail string
	cmd := &cobra.Command{
		Use: "answer ID TICKET", Short: "Answer a function call by hand", Args: cli.Exactly("the id of an instance", "the ticket of the call"),
		Long: "Answer gives the result of a call without an implementation, or an error that the workflow can handle. \"lockstep inst calls\n" +
			"--parked\" lists them.",
		Example: `  lockstep inst answer ID 1.2 --result '{"paid":true}'
  lockstep inst answer ID 1.2 --error CardDeclined --code 402`,
	}
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&result, "result", "", "the function's result: `JSON`, @FILE, or - for stdin")
	cmd.Flags().StringVar(&fault, "error", "", "the `name` of the error")
	cmd.Flags().StringVar(&code, "code", "", "the error's `code`")
	cmd.Flags().StringVar(&detail, "detail", "", "a `sentence` about the error")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		given := cmd.Flags().Changed
		if given("result") == given("error") {
			return cli.Usagef("an answer is either --result or --error")
		}
		if (given("code") || given("detail")) && !given("error") {
			return cli.Usagef("--code and --detail need --error")
		}
		answer := api.CallAnswer{Error: &api.CallError{Name: fault, Code: code, Detail: detail}}
		if given("result") {
			v, _, err := a.ReadData(r.Ctx, "--result", result)
			if err != nil {
				return err
			}
			answer = api.CallAnswer{Result: api.Data(v.String())}
		}
		in, err := r.AnswerCall(r.Ctx, args[0], args[1], answer)
		if err != nil {
			return err
		}
		return write(a, in, output)
	})
	return cmd
}
