package local

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// ExplainCommand is `lockstep explain`.
func ExplainCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain the code of a diagnostic",
		Long:  "Explain says what a diagnostic means, with an example that causes it and one that does not.\nWithout a code it lists all codes.",
		Example: `  lockstep explain SW201
  lockstep explain`,
		Args: cli.AtMost(1),
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var codes []string
		for _, e := range sorted(explanations()) {
			codes = append(codes, e.Code+"\t"+e.Title)
		}
		return codes, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listCodes(a, sorted(explanations()), output.Value)
		}
		e, ok := dialect.Explain(args[0], explanations()...)
		if !ok {
			return noSuchCode(args[0], sorted(explanations()))
		}
		return explain(a, e, output.Value)
	}
	return cmd
}

// explanations are the tables of all codes.
func explanations() [][]dialect.Explanation {
	return append(dialects.All().Codes(), scenario.Codes(), openapi.Codes(), builtin.Codes(), catalogue.Codes(), cli.SettingCodes)
}

func sorted(tables [][]dialect.Explanation) []dialect.Explanation {
	all := slices.Concat(tables...)
	slices.SortFunc(all, func(a, b dialect.Explanation) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

func noSuchCode(code string, all []dialect.Explanation) error {
	var codes []string
	for _, e := range all {
		codes = append(codes, e.Code)
	}
	return cli.NotFoundf("there is no code %q", code).
		WithHint(`"lockstep explain" lists all codes`).Near(strings.ToUpper(code), codes)
}

type explanationJSON struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Bad   string `json:"bad"`
	Good  string `json:"good"`
}

func listCodes(a *cli.App, all []dialect.Explanation, format string) error {
	if format == "json" {
		out := []explanationJSON{}
		for _, e := range all {
			out = append(out, explanationJSON(e))
		}
		return cli.WriteJSON(a.Out, out)
	}
	for _, e := range all {
		if _, err := fmt.Fprintf(a.Out, "%-7s %s\n", e.Code, e.Title); err != nil {
			return err
		}
	}
	return nil
}

func explain(a *cli.App, e dialect.Explanation, format string) error {
	if format == "json" {
		return cli.WriteJSON(a.Out, explanationJSON(e))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n%s\n", e.Code, e.Title, wrap(e.Text, 80))
	for _, part := range []struct{ title, text string }{{"This causes it:", e.Bad}, {"This does not:", e.Good}} {
		if part.text != "" {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", part.title, cli.Indent(part.text, "    "))
		}
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// wrap breaks text into lines of at most width characters where there are blanks.
func wrap(text string, width int) string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
