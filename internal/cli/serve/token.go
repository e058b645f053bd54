package serve

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// TokenCommand is `lockstep token`.
func TokenCommand(a *cli.App) *cobra.Command {
	cmd := a.Group("token", "Make, list and revoke tokens of a server", `  lockstep token new --name ci --role author --expires 2027-01-31
  lockstep token ls
  lockstep token revoke ci --reason "it was in a log"`)
	cmd.AddCommand(tokenNew(a), tokenList(a), tokenRevoke(a), tokenRestore(a))
	return cmd
}

func tokenNew(a *cli.App) *cobra.Command {
	var name, client, expires string
	var sources []string
	role := &cli.Choice{}
	for _, r := range server.Roles {
		role.Allowed = append(role.Allowed, string(r))
	}
	cmd := &cobra.Command{
		Use: "new --name NAME --role ROLE", Short: "Make a token, and the line for the tokens file", Args: cli.AtMost(0),
		Long: "New prints a token on stdout. It is stored nowhere, so it cannot be shown again. On stderr it prints the line for the file of\n" +
			"`lockstep serve --tokens`, which has only the hash.\n" +
			"Roles: viewer reads; operator reads, starts and intervenes; author reads, deploys and starts; admin does everything; event-producer\n" +
			"sends events, of certain sources if --source names them; device acts for its client.",
		Example: `  lockstep token new --name ci --role author 2>> tokens.txt > ci.token
  lockstep token new --name ci --role author -o json`,
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&name, "name", "", "the owner's `name`, unique in the file")
	cmd.Flags().Var(role, "role", "what it allows")
	cmd.Flags().StringVar(&client, "client", "", "for a device: the `client` that it acts for")
	cmd.Flags().StringVar(&expires, "expires", "", "the last `day`, such as 2027-01-31, or the instant at which it ends")
	cmd.Flags().StringArrayVar(&sources, "source", nil, "for an event producer: a `source` of its events, with * at the end for all that begin so; repeatable")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(role.Allowed, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(*cobra.Command, []string) error {
		switch {
		case name == "" || role.Value == "":
			return cli.Usagef("lockstep token new needs --name and --role")
		case (role.Value == string(server.Device)) != (client != ""):
			return cli.Usagef("the role device needs --client, and only that role")
		}
		token, hash := server.NewToken()
		line := fmt.Sprintf("{name: %s, role: %s, hash: %q", expr.String(name), role.Value, hash)
		if client != "" {
			line += fmt.Sprintf(", client: %s", expr.String(client))
		}
		if expires != "" {
			line += fmt.Sprintf(", expires: %s", expr.String(expires))
		}
		if len(sources) > 0 {
			var list []expr.Value
			for _, source := range sources {
				list = append(list, expr.String(source))
			}
			line += fmt.Sprintf(", sources: %s", expr.Array(list...))
		}
		line += "}"
		tokens, err := server.ParseTokens([]byte(line))
		if err != nil {
			return cli.Usagef("%v", err)
		}
		if tokens.Expired(time.Now()) {
			return cli.Usagef("--expires %s has passed", expires)
		}
		if output.Value == "json" {
			return cli.WriteJSONLine(a.Out, map[string]string{"token": token, "line": line})
		}
		fmt.Fprintln(a.Err, line)
		_, err = fmt.Fprintln(a.Out, token)
		return err
	}
	return cmd
}
