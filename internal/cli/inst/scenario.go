package inst

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func recordScenario(a *cli.App, server *remote.Flags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "scenario ID", Short: "Record a run as a scenario file", Args: cli.Exactly("the id of an instance"),
		Long: "Scenario prints a run as a scenario file: the input, how functions answered, which events came when, and the result.\n" +
			"Beside the definition, \"lockstep test\" runs it from then on.",
		Example: `  lockstep inst scenario ID > order_test.yaml
  lockstep inst scenario ID --file order_test.yaml && lockstep test order_test.yaml`,
	}
	cmd.Flags().StringVar(&file, "file", "", "write it to this `file`, which must not exist")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		text, err := r.GetScenario(r.Ctx, args[0])
		if err != nil {
			return err
		}
		if file == "" {
			_, err = a.Out.Write(text)
			return err
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if os.IsExist(err) {
			return cli.Usagef("%s exists already; nothing was written", file)
		}
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			_ = f.Close() // the first error says more
			return fmt.Errorf("write %s: %w", file, err)
		}
		return f.Close()
	})
	return cmd
}
