package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/version"
)

// ManCommand writes the manual pages, one for each command.
func (a *App) ManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages, one for each command",
		Example: "  lockstep man /usr/local/share/man/man1\n  man lockstep-inst-start",
		Args:    Exactly("a folder for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writePages(cmd.Root(), args[0])
		},
	}
}

func writePages(cmd *cobra.Command, folder string) error {
	if !cmd.IsAvailableCommand() && cmd.Name() != "help" && cmd.HasParent() {
		return nil
	}
	file := filepath.Join(folder, pageName(cmd)+".1")
	if err := os.WriteFile(file, []byte(page(cmd)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := writePages(sub, folder); err != nil {
			return err
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is the manual page of a command as roff. It has no date, so that the same program gives the same bytes.
func page(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"lockstep %s\" \"Lockstep Manual\"\n.nh\n.ad l\n",
		strings.ToUpper(pageName(cmd)), roff(version.Read().Version))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\\fB%s\\fR COMMAND\n", roff(cmd.CommandPath()))
	} else {
		fmt.Fprintf(&b, "\\fB%s\\fR\n", roff(cmd.UseLine()))
	}
	if cmd.Long != "" {
		section("DESCRIPTION")
		fmt.Fprintln(&b, roff(cmd.Long))
	}
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	writeFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	writeFlags(&b, "COMMON OPTIONS", cmd.InheritedFlags())
	if cmd.HasExample() {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	if cmd.HasParent() {
		section("SEE ALSO")
		fmt.Fprintf(&b, "\\fB%s\\fR(1)\n", roff(pageName(cmd.Parent())))
	}
	return b.String()
}

func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR%s\n%s\n", roff(name), roff(value), roff(usage))
	})
}

// roff escapes text: a backslash and a hyphen are special anywhere, a dot and a quote where a line begins.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
