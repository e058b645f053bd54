package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func tokenList(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := &cobra.Command{
		Use: "ls", Short: "List the tokens of a server, and what is revoked", Args: cli.AtMost(0),
		Long: "Ls lists the tokens that a server accepts, by their names in its tokens file, and the certificates that were revoked by serial number. It\n" +
			"needs a token with the role admin.",
		Example: `  lockstep token ls
  lockstep token ls -o json`,
	}
	server.Add(cmd)
	output := cli.ListFlag(cmd)
	cmd.RunE = remote.Run(a, &server, func(r remote.Server, _ []string) error {
		tokens, err := r.ListTokens(r.Ctx)
		if err != nil {
			return err
		}
		revoked, err := r.ListRevocations(r.Ctx)
		if err != nil {
			return err
		}
		for _, v := range revoked {
			if v.Certificate != "" {
				tokens = append(tokens, api.Token{Name: v.ID, Role: "certificate", Revoked: true})
			}
		}
		return cli.Listing[api.Token]{
			What:    "tokens: the server asks for none",
			Columns: []string{"NAME", "ROLE", "STATE", "EXPIRES", "CLIENT", "SOURCES"},
			Row: func(t api.Token) []string {
				expires := ""
				if !t.Expires.IsZero() {
					expires = t.Expires.Format("2006-01-02 15:04")
				}
				return []string{t.Name, t.Role, tokenState(t), expires, t.Client, strings.Join(t.Sources, " ")}
			},
			Name: func(t api.Token) string { return t.Name },
		}.Write(a, output, tokens)
	})
	return cmd
}

func tokenState(t api.Token) string {
	switch {
	case t.Revoked:
		return "revoked"
	case t.Expired:
		return "expired"
	}
	return "valid"
}

func tokenRevoke(a *cli.App) *cobra.Command {
	var server remote.Flags
	var certificate, issuer, reason string
	cmd := &cobra.Command{
		Use: "revoke NAME", Short: "Refuse a token or a certificate from now on", Args: cli.AtMost(1),
		Long: "Revoke makes all servers that share a store refuse a token, with its sessions, or the certificate of a device, within a few seconds and\n" +
			"without a restart. Remove the line from the tokens file afterwards. It needs a token with the role admin.",
		Example: `  lockstep token revoke ci --reason "it was in a log"
  lockstep token revoke --certificate 3a:5f:01 --reason stolen`,
	}
	server.Add(cmd)
	cmd.Flags().StringVar(&certificate, "certificate", "", "the serial `number` of a certificate, in hexadecimal digits")
	cmd.Flags().StringVar(&issuer, "issuer", "", "the `name` of the certificate's issuer, such as \"CN=Devices,O=Example\" (default: of all authorities)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.RunE = remote.Run(a, &server, func(r remote.Server, args []string) error {
		if (len(args) == 1) == (certificate != "") {
			return cli.Usagef("lockstep token revoke needs the name of a token, or --certificate")
		}
		request := api.RevokeRequest{Certificate: certificate, Issuer: issuer, Reason: reason}
		if len(args) == 1 {
			request.Token = args[0]
		}
		v, err := r.Revoke(r.Ctx, request)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "revoked; lockstep token restore %s takes it back\n", cli.QuoteArg(cmp.Or(v.Token, v.ID)))
		return nil
	})
	return cmd
}

func tokenRestore(a *cli.App) *cobra.Command {
	var server remote.Flags
	var reason string
	cmd := &cobra.Command{
		Use: "restore NAME", Short: "Take a revocation back", Args: cobra.ExactArgs(1),
		Long: "Restore takes a revocation back: that of a token by its name, that of a certificate by the id that revoke printed and ls lists. It needs\n" +
			"a token with the role admin.",
		Example: `  lockstep token restore ci --reason "the log is deleted"
  lockstep token restore certificate-3a5f01`,
	}
	server.Add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	cmd.RunE = remote.Run(a, &server, func(r remote.Server, args []string) error {
		revoked, err := r.ListRevocations(r.Ctx)
		if err != nil {
			return err
		}
		revoked = slices.DeleteFunc(revoked, func(v api.Revocation) bool { return v.Token != args[0] && v.ID != args[0] })
		switch len(revoked) {
		case 0:
			return cli.NotFoundf("%q is not revoked", args[0])
		case 1:
			return r.Restore(r.Ctx, revoked[0].ID, reason)
		}
		return cli.Usagef("several tokens with the name %q were revoked; give the id of one, such as %s", args[0], revoked[0].ID)
	})
	return cmd
}
