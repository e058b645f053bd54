package remote

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// AuditCommand is `lockstep audit`.
func AuditCommand(a *cli.App) *cobra.Command {
	var server Flags
	cmd := a.Group("audit", "List who changed what, and why", `  lockstep audit ls --who ada`)
	server.Add(cmd)
	cmd.AddCommand(auditList(a, &server))
	return cmd
}

func auditList(a *cli.App, server *Flags) *cobra.Command {
	var q client.AuditQuery
	cmd := &cobra.Command{
		Use: "ls", Short: "List the audit log, newest first", Args: cli.AtMost(0),
		Long: "Ls lists what people changed: definitions, instances, jobs, tokens, sessions; also what failed. Starts, events and what devices do are not\n" +
			"in the audit log. It needs a token with the role admin.",
		Example: `  lockstep audit ls
  lockstep audit ls -o wide --target /api/v1/definitions/order
  lockstep audit ls --operation deployDefinition -o json`,
	}
	cmd.Flags().StringVar(&q.Who, "who", "", "only what this `name` did")
	cmd.Flags().StringVar(&q.Operation, "operation", "", "only this `operation`, such as cancelInstance")
	cmd.Flags().StringVar(&q.Target, "target", "", "only what was done to this `path`, such as /api/v1/instances/ID")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many")
	output := cli.ListFlag(cmd)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		page, err := r.ListAudit(r.Ctx, q)
		if err != nil {
			return err
		}
		return cli.Listing[api.AuditEntry]{
			Columns: []string{"AT", "WHO", "FROM", "OPERATION", "TARGET", "STATUS", "REASON"},
			Row: func(e api.AuditEntry) []string {
				return []string{e.At.Format("2006-01-02 15:04:05"), e.Who, e.Address, e.Operation, e.Target, fmt.Sprint(e.Status), e.Reason}
			},
			Wide: []string{"BEFORE", "AFTER"}, WideRow: func(e api.AuditEntry) []string { return []string{e.Before, e.After} },
			Name: func(e api.AuditEntry) string { return e.Target },
		}.Write(a, output, page.Items)
	})
	return cmd
}
