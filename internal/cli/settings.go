package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The settings of a server come from flags, then from the environment, then from a
// file. All three have the same names: --event-window, LOCKSTEP_EVENT_WINDOW, event-window.

// EnvPrefix is the prefix of variables that are settings.
const EnvPrefix = "LOCKSTEP_"

// clientVariables are the variables of other commands.
var clientVariables = []string{EnvURL, EnvToken, EnvSouth, EnvSouthToken}

// flagOnly are flags that are not settings.
var flagOnly = []string{"check", "help"}

// EnvName is the variable of a flag.
func EnvName(flag string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// ConfigFlag adds --config.
func ConfigFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "config", "", "a YAML `file` with settings named like these flags")
}

// Settings sets the flags that were not given from the environment and the file.
func (a *App) Settings(ctx context.Context, cmd *cobra.Command) error {
	given := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = true })
	if err := a.fromEnvironment(cmd.Flags(), given); err != nil {
		return err
	}
	file := cmd.Flags().Lookup("config").Value.String()
	if file == "" {
		return nil
	}
	text, err := ReadFile(ctx, file)
	if err != nil {
		return err
	}
	doc, found := dialect.Read(file, text)
	if found.HasErrors() {
		return a.InvalidDocument("the settings cannot be read", doc, found)
	}
	if found = fromFile(cmd.Flags(), doc, given); found.HasErrors() {
		return a.InvalidDocument("the settings cannot be used", doc, found)
	}
	return nil
}

// fromEnvironment sets flags that were not given. It warns of an unknown variable, which may be misspelled.
func (a *App) fromEnvironment(flags *pflag.FlagSet, given map[string]bool) error {
	known := map[string]*pflag.Flag{}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(flagOnly, f.Name) {
			known[EnvName(f.Name)] = f
			names = append(names, EnvName(f.Name))
		}
	})
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || value == "" || slices.Contains(clientVariables, name) {
			continue
		}
		f := known[name]
		switch {
		case f == nil:
			hint := ""
			if near := dialect.Suggest(name, names); near != "" {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			fmt.Fprintf(a.Err, "warning: %s is not a setting%s\n", Plain(name), hint)
			continue
		case given[f.Name]:
			continue
		}
		given[f.Name] = true
		if err := setFlag(f, strings.Split(value, ","), value); err != nil {
			return Usagef("%s: %v", name, err)
		}
	}
	return nil
}

// setFlag gives a flag a value, or several if it is repeatable.
func setFlag(f *pflag.Flag, list []string, value string) error {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		f.Changed = true
		return many.Replace(slices.DeleteFunc(list, func(s string) bool { return s == "" }))
	}
	f.Changed = true
	return f.Value.Set(value)
}

// Codes of diagnostics about settings.
const (
	codeSettingShape   = "CF001"
	codeSettingUnknown = "CF002"
	codeSettingValue   = "CF003"
)

// SettingCodes explains them.
var SettingCodes = []dialect.Explanation{
	{
		Code: codeSettingShape, Title: "a settings file that is not an object",
		Text: "A settings file (--config) has one key for each setting, named like the flag without its dashes.",
		Bad:  "- north: 127.0.0.1:8081\n",
		Good: "north: 127.0.0.1:8081\n",
	},
	{
		Code: codeSettingUnknown, Title: "a setting that does not exist",
		Text: "Every key of a settings file is the name of a flag of the command that reads it. A misspelled key would silently leave the default.",
		Bad:  "nort: 127.0.0.1:8081\n",
		Good: "north: 127.0.0.1:8081\n",
	},
	{
		Code: codeSettingValue, Title: "an invalid value of a setting",
		Text: "The flag of this name does not accept the value. Flags that can be repeated take a list.",
		Bad:  "max-calls: many\n",
		Good: "max-calls: 100\n",
	},
}

// fromFile sets flags that were not given yet.
func fromFile(flags *pflag.FlagSet, doc *dialect.Document, given map[string]bool) dialect.Diagnostics {
	r := dialect.Reader{Reporter: &dialect.Reporter{}, Strict: true, Codes: dialect.FieldCodes{
		Type: codeSettingShape, Unknown: codeSettingUnknown,
	}}
	f := r.Fields(doc.Root, "the settings")
	if f == nil {
		return r.Diagnostics()
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(flagOnly, flag.Name) || flag.Name == "config" {
			return
		}
		n := f.Get(flag.Name)
		if n == nil {
			return
		}
		list, err := SettingTexts(n)
		_, many := flag.Value.(pflag.SliceValue)
		switch {
		case err == nil && !many && len(list) != 1:
			err = fmt.Errorf("must be one value, not %d", len(list))
		case err == nil && !given[flag.Name]:
			err = setFlag(flag, list, strings.Join(list, ","))
		}
		if err != nil {
			r.Errorf(n, codeSettingValue, "%s: %v", flag.Name, err)
		}
	})
	f.Done()
	return r.Diagnostics()
}

// SettingTexts are the values of a setting, as text for its flag.
func SettingTexts(n *dialect.Node) ([]string, error) {
	switch n.Kind {
	case expr.KindArray:
		var out []string
		for _, item := range n.Items {
			texts, err := SettingTexts(item)
			if err != nil || len(texts) != 1 {
				return nil, fmt.Errorf("must be an array of strings")
			}
			out = append(out, texts...)
		}
		return out, nil
	case expr.KindObject, expr.KindNull:
		return nil, fmt.Errorf("must not be %s", n.Kind.WithArticle())
	}
	return []string{n.Text}, nil
}

// Variables of the environment that name the side of devices.
const (
	EnvSouth      = "LOCKSTEP_SOUTH_URL"
	EnvSouthToken = "LOCKSTEP_SOUTH_TOKEN"
)

// Variables of the environment that name a server.
const (
	EnvURL   = "LOCKSTEP_URL"
	EnvToken = "LOCKSTEP_TOKEN"
)
