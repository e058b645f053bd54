package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
)

// Secrets are the flags of secrets. Sources count in the order in which they are given, whatever their
// flag is.
type Secrets struct{ given []givenSource }

type givenSource struct{ flag, text string }

// Add adds --secrets, --secrets-dir and --secrets-env.
func (s *Secrets) Add(cmd *cobra.Command) {
	for flag, usage := range map[string]string{
		"secrets":     "a YAML or JSON `file` with secrets by name; repeatable, the later of all sources wins",
		"secrets-dir": "a `folder` with a file for each secret, as Kubernetes mounts them; repeatable",
		"secrets-env": "take secrets from environment variables with this `prefix`; repeatable",
	} {
		cmd.Flags().Var(&secretsFlag{s, flag}, flag, usage)
	}
}

// Open reads the secrets; nil if none are given. From then on what a writes to stderr does not tell them,
// the error that ends the command included.
func (s *Secrets) Open(a *cli.App) (*secrets.Store, error) {
	if len(s.given) == 0 {
		return nil, nil
	}
	var sources []secrets.Source
	for _, g := range s.given {
		switch g.flag {
		case "secrets":
			sources = append(sources, secrets.File(g.text))
		case "secrets-dir":
			sources = append(sources, secrets.Dir(g.text))
		default:
			sources = append(sources, secrets.Env(g.text))
		}
	}
	store, warnings, err := secrets.Open(sources...)
	if err != nil {
		return nil, cli.Invalidf("%v", err)
	}
	if !a.Problems {
		for _, w := range warnings {
			fmt.Fprintf(a.Err, "warning: %s\n", cli.Plain(w))
		}
	}
	a.Err = secrets.Writer(a.Err, store)
	return store, nil
}

// secretsFlag is one of the flags.
type secretsFlag struct {
	all  *Secrets
	name string
}

// String is what was given.
func (f *secretsFlag) String() string {
	if f.all == nil {
		return ""
	}
	return strings.Join(f.GetSlice(), ",")
}

// Type is how it is shown.
func (f *secretsFlag) Type() string { return "stringArray" }

// Set adds a source.
func (f *secretsFlag) Set(text string) error { return f.Append(text) }

// Append adds a source.
func (f *secretsFlag) Append(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty: is a variable not set?")
	}
	f.all.given = append(f.all.given, givenSource{f.name, text})
	return nil
}

// Replace gives the flag other sources, for settings.
func (f *secretsFlag) Replace(list []string) error {
	f.all.given = slices.DeleteFunc(f.all.given, func(g givenSource) bool { return g.flag == f.name })
	for _, text := range list {
		if err := f.Append(text); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice is what was given.
func (f *secretsFlag) GetSlice() []string {
	var out []string
	for _, g := range f.all.given {
		if g.flag == f.name {
			out = append(out, g.text)
		}
	}
	return out
}
