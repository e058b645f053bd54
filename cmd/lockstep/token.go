package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := a.group("token", "Make tokens for a server", `  lockstep token new --name ci --role author`)
	cmd.AddCommand(a.tokenNew())
	return cmd
}

func (a *app) tokenNew() *cobra.Command {
	var name, client string
	role := &choice{}
	for _, r := range server.Roles {
		role.allowed = append(role.allowed, string(r))
	}
	cmd := &cobra.Command{
		Use: "new --name NAME --role ROLE", Short: "Make a token, and the line for the tokens file", Args: atMost(0),
		Long: "New prints a token on stdout, which is kept nowhere: this is the only time that it is seen. On stderr stands the line for the file\n" +
			"of `lockstep serve --tokens`, which has its hash alone.\n" +
			"Roles: viewer reads; operator reads, starts and intervenes; author reads, deploys and starts; admin does everything; event-producer\n" +
			"sends events; device acts for its client.",
		Example: `  lockstep token new --name ci --role author 2>> tokens.txt > ci.token
  lockstep token new --name ci --role author -o json`,
	}
	output := outputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&name, "name", "", "who it is for; a `name` that the file has once")
	cmd.Flags().Var(role, "role", "what it allows")
	cmd.Flags().StringVar(&client, "client", "", "of a device: the `client` that it acts for")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(role.allowed, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(*cobra.Command, []string) error {
		switch {
		case name == "" || role.value == "":
			return usagef("lockstep token new needs --name and --role")
		case (role.value == string(server.Device)) != (client != ""):
			return usagef("--client belongs to the role device, and a device needs one")
		}
		token, hash := server.NewToken()
		line := fmt.Sprintf("{name: %s, role: %s, hash: %q", expr.String(name), role.value, hash)
		if client != "" {
			line += fmt.Sprintf(", client: %s", expr.String(client))
		}
		line += "}"
		if _, err := server.ParseTokens([]byte(line)); err != nil {
			return usagef("%v", err) // such as a name with a line break
		}
		if output.value == "json" {
			return writeJSONLine(a.out, map[string]string{"token": token, "line": line})
		}
		fmt.Fprintln(a.err, line)
		_, err := fmt.Fprintln(a.out, token)
		return err
	}
	return cmd
}
