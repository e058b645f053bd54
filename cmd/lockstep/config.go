package main

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

const envPrefix = "LOCKSTEP_"

// clientVariables are variables of other commands.
var clientVariables = []string{envURL, envToken, envSouth, envSouthToken}

// flagOnly are flags that say what to do now, not how.
var flagOnly = []string{"check", "help"}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configFlag adds --config.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "config", "", "a YAML `file` with settings named like these flags")
}

// settings gives the flags that were not used the values of the environment and of the file.
func (a *app) settings(ctx context.Context, cmd *cobra.Command) error {
	given := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = true })
	if err := a.fromEnvironment(cmd.Flags(), given); err != nil {
		return err
	}
	file := cmd.Flags().Lookup("config").Value.String()
	if file == "" {
		return nil
	}
	text, err := readFile(ctx, file)
	if err != nil {
		return err
	}
	doc, found := dialect.Read(file, text)
	if found.HasErrors() {
		return a.invalidDocument("the settings cannot be read", doc, found)
	}
	if found = fromFile(cmd.Flags(), doc, given); found.HasErrors() {
		return a.invalidDocument("the settings cannot be used", doc, found)
	}
	return nil
}

// fromEnvironment sets flags that were not given. A variable that is no setting is told: it
// may be a misspelled one.
func (a *app) fromEnvironment(flags *pflag.FlagSet, given map[string]bool) error {
	known := map[string]*pflag.Flag{}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(flagOnly, f.Name) {
			known[envName(f.Name)] = f
			names = append(names, envName(f.Name))
		}
	})
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || value == "" || slices.Contains(clientVariables, name) {
			continue
		}
		f := known[name]
		switch {
		case f == nil:
			hint := ""
			if near := dialect.Suggest(name, names); near != "" {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			fmt.Fprintf(a.err, "warning: the variable %s is no setting%s\n", plain(name), hint)
			continue
		case given[f.Name]:
			continue
		}
		given[f.Name] = true
		if err := setFlag(f, strings.Split(value, ","), value); err != nil {
			return usagef("%s: %v", name, err)
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

// settingCodes explains them.
var settingCodes = []dialect.Explanation{
	{
		Code: codeSettingShape, Title: "a file of settings that is not an object",
		Text: "A file of settings (--config) has one key for each setting, named like the flag without its dashes.",
		Bad:  "- north: 127.0.0.1:8081\n",
		Good: "north: 127.0.0.1:8081\n",
	},
	{
		Code: codeSettingUnknown, Title: "a setting that does not exist",
		Text: "Every key of a file of settings is the name of a flag of the command that reads it; one that is misspelled would silently leave a default.",
		Bad:  "nort: 127.0.0.1:8081\n",
		Good: "north: 127.0.0.1:8081\n",
	},
	{
		Code: codeSettingValue, Title: "a setting whose value cannot be",
		Text: "The value is none that the flag of this name takes. Flags that can be repeated take a list.",
		Bad:  "max-calls: many\n",
		Good: "max-calls: 100\n",
	},
}

// fromFile sets flags that were not given yet.
func fromFile(flags *pflag.FlagSet, doc *dialect.Document, given map[string]bool) dialect.Diagnostics {
	var report dialect.Reporter
	if !doc.Root.Is(expr.KindObject) {
		report.Errorf(doc.Root, codeSettingShape, "settings are an object, such as `north: 127.0.0.1:8081`")
		return report.Diagnostics()
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(flagOnly, f.Name) && f.Name != "config" {
			names = append(names, f.Name)
		}
	})
	for _, m := range doc.Root.Members {
		name := m.Key.Text
		if !slices.Contains(names, name) {
			report.Errorf(m.Key, codeSettingUnknown, "there is no setting %q", name).DidYouMean(name, names)
			continue
		}
		f := flags.Lookup(name)
		list, err := settingTexts(m.Value())
		_, many := f.Value.(pflag.SliceValue)
		switch {
		case err == nil && !many && len(list) != 1:
			err = fmt.Errorf("must be one value")
		case err == nil && given[name]:
			continue
		case err == nil:
			err = setFlag(f, list, list[0])
		}
		if err != nil {
			report.Errorf(m, codeSettingValue, "%s: %v", name, err)
		}
	}
	return report.Diagnostics()
}

// settingTexts are the texts of a value, as they would stand behind a flag.
func settingTexts(v expr.Value) ([]string, error) {
	switch v.Kind() {
	case expr.KindString:
		return []string{v.Str()}, nil
	case expr.KindArray:
		var out []string
		for _, item := range v.Items() {
			texts, err := settingTexts(item)
			if err != nil || len(texts) != 1 {
				return nil, fmt.Errorf("must be a list of texts")
			}
			out = append(out, texts...)
		}
		return out, nil
	case expr.KindObject, expr.KindNull:
		return nil, fmt.Errorf("must not be %s", v.Kind())
	}
	return []string{v.String()}, nil
}
