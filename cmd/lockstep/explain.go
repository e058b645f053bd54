package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Tell more about the code of a diagnostic",
		Long:  "Explain tells what a diagnostic means, with an example of what leads to it and one of what does not.\nWithout a code it lists all of them.",
		Example: `  lockstep explain SW201
  lockstep explain`,
		Args: atMost(1),
	}
	output := outputFlag(cmd, "format", "text", "json")
	tables := func() [][]dialect.Explanation {
		return append(a.registry().Codes(), dialect.JobCodes(), scenario.Codes(), openapi.Codes(), catalogue.Codes(), settingCodes)
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var codes []string
		for _, e := range sorted(tables()) {
			codes = append(codes, e.Code+"\t"+e.Title)
		}
		return codes, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.listCodes(sorted(tables()), output.value)
		}
		e, ok := dialect.Explain(args[0], tables()...)
		if !ok {
			return noSuchCode(args[0], sorted(tables()))
		}
		return a.explain(e, output.value)
	}
	return cmd
}

func sorted(tables [][]dialect.Explanation) []dialect.Explanation {
	all := slices.Concat(tables...)
	slices.SortFunc(all, func(a, b dialect.Explanation) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

func noSuchCode(code string, all []dialect.Explanation) error {
	f := &failure{
		exit: exitNotFound, code: "not-found", title: "Not found",
		detail: fmt.Sprintf("there is no code %q", code), hint: `"lockstep explain" lists all codes`,
	}
	var codes []string
	for _, e := range all {
		codes = append(codes, e.Code)
	}
	if near := dialect.Suggest(strings.ToUpper(code), codes); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

type explanationJSON struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Bad   string `json:"bad"`
	Good  string `json:"good"`
}

func (a *app) listCodes(all []dialect.Explanation, format string) error {
	if format == "json" {
		out := []explanationJSON{}
		for _, e := range all {
			out = append(out, explanationJSON(e))
		}
		return writeJSON(a.out, out)
	}
	for _, e := range all {
		if _, err := fmt.Fprintf(a.out, "%-7s %s\n", e.Code, e.Title); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) explain(e dialect.Explanation, format string) error {
	if format == "json" {
		return writeJSON(a.out, explanationJSON(e))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n%s\n", e.Code, e.Title, wrap(e.Text, 80))
	for _, part := range []struct{ title, text string }{{"This leads to it:", e.Bad}, {"This does not:", e.Good}} {
		if part.text != "" {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", part.title, indent(part.text, "    "))
		}
	}
	_, err := fmt.Fprint(a.out, b.String())
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

func indent(text, by string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
