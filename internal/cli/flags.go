package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
)

// AtLeastOne requires an argument.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return Usagef("%s needs %s", cmd.CommandPath(), what).WithExamples(cmd)
	}
}

// Exactly requires the named arguments.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return Usagef("%s takes no argument %q", cmd.CommandPath(), args[len(names)])
		case len(args) < len(names):
			return Usagef("%s needs %s", cmd.CommandPath(), names[len(args)]).WithExamples(cmd)
		}
		return nil
	}
}

// AtMost refuses more than n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		arg := args[n]
		if i := strings.IndexAny(arg, ":=@"); i >= 0 { // it may be part of an address with a password
			arg = arg[:i+1] + "…"
		}
		return Usagef("%s takes no argument %q", cmd.CommandPath(), arg)
	}
}

// mustBe says what the value of a flag of a basic type must be, in place of what strconv and time say.
var mustBe = map[string]string{"bool": "must be true or false", "int": "must be a whole number", "float64": "must be a number", "duration": "must be a duration such as 1m30s"}

func flagError(cmd *cobra.Command, err error) error {
	f := Usagef("%v", err)
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		why := invalid.Unwrap().Error()
		if words, ok := mustBe[flag.Value.Type()]; ok && !strings.HasPrefix(why, "must ") {
			why = words
		}
		f.Detail = fmt.Sprintf("--%s %q: %s", flag.Name, invalid.GetValue(), why)
		return f
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return f
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		f.Detail = fmt.Sprintf("%s has no flag -%s", cmd.CommandPath(), name)
	} else {
		f.Detail = fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), name)
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	f.Hint = fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help")
	if near := dialect.Suggest(name, names); near != "" {
		f.Hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return f
}

// Choice is a flag with a fixed set of values.
type Choice struct {
	Value   string
	Allowed []string
	Also    map[string]string // aliases
}

func (c *Choice) String() string { return c.Value }

func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

func (c *Choice) Set(value string) error {
	if ours, ok := c.Also[value]; ok {
		value = ours
	}
	for _, word := range c.Allowed {
		if word == value {
			c.Value = value
			return nil
		}
	}
	hint := ""
	if near := dialect.Suggest(value, c.Allowed); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("must be one of %s%s", strings.Join(c.Allowed, ", "), hint)
}

// OutputFlag adds -o with the formats of a command; the first is the default.
func OutputFlag(cmd *cobra.Command, usage string, formats ...string) *Choice {
	c := &Choice{Value: formats[0], Allowed: formats}
	cmd.Flags().VarP(c, "output", "o", usage)
	CompleteFlag(cmd, "output", formats)
	return c
}

// CompleteFlag completes the value of a flag.
func CompleteFlag(cmd *cobra.Command, flag string, words []string) {
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// parsed is a flag whose text a function parses.
type parsed struct {
	text string
	take func(text string) error
}

func (p *parsed) String() string { return p.text }
func (p *parsed) Type() string   { return "text" }

func (p *parsed) Set(text string) error {
	p.text = text
	return p.take(text)
}

// ParseFlag adds a flag whose text a function parses.
func ParseFlag(f *pflag.FlagSet, name, usage string, take func(text string) error) {
	ParseFlagP(f, name, "", usage, take)
}

// ParseFlagP is ParseFlag with a shorthand letter.
func ParseFlagP(f *pflag.FlagSet, name, letter, usage string, take func(text string) error) {
	f.VarP(&parsed{take: take}, name, letter, usage)
}

// NotEmpty refuses empty text, most likely of a variable that is not set.
func NotEmpty(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty: is a variable not set?")
	}
	return nil
}

// strict makes the built-in commands help and completion refuse unknown arguments, as all others do.
func (a *App) strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) == 0 {
					return nil
				}
				return a.NoSuchCommand(of, rest)
			}
		case "completion":
			cmd.Args = a.NoSuchCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = AtMost(0)
			}
		}
	}
}

// DialectFlag adds --dialect.
func (a *App) DialectFlag(cmd *cobra.Command, name *string) {
	names := dialects.All().Names()
	ParseFlag(cmd.Flags(), "dialect", "the `dialect` of the definitions (default: detected)", func(text string) error {
		*name = text
		near := dialect.Suggest(text, names)
		switch {
		case slices.Contains(names, text):
			return nil
		case near != "":
			return fmt.Errorf("there is no dialect %q; did you mean %q?", text, near)
		}
		return fmt.Errorf("there is no dialect %q; there is %s", text, strings.Join(names, ", "))
	})
	CompleteFlag(cmd, "dialect", names)
}

// StdinOnce refuses to read stdin for several files.
func StdinOnce(args []string) error {
	seen := false
	for _, arg := range args {
		if arg == "-" && seen {
			return Usagef("- is given twice, but stdin can be read only once")
		}
		seen = seen || arg == "-"
	}
	return nil
}
