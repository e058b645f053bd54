package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

type fruit struct {
	Name string         `json:"name"`
	Size int            `json:"size"`
	From map[string]any `json:"from,omitempty"`
}

// written is what a list of fruits looks like with some flags.
func written(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	a := &App{Out: &out, Err: &out}
	cmd := &cobra.Command{Use: "ls", SilenceErrors: true, SilenceUsage: true}
	format := ListFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return Listing[fruit]{
			Columns: []string{"NAME"}, Row: func(f fruit) []string { return []string{f.Name} },
			Wide: []string{"ORIGIN"}, WideRow: func(f fruit) []string { return []string{strings.Repeat("x", f.Size)} },
			Name: func(f fruit) string { return f.Name },
		}.Write(a, format, []fruit{{Name: "pear", Size: 10}, {Name: "fig", Size: 9, From: map[string]any{"land": "tr"}}, {Name: "kiwi", Size: 2}})
	}
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "NAME\npear\nfig\nkiwi\n"},
		{"--no-headers", "pear\nfig\nkiwi\n"},
		{"--no-headers --sort-by name", "fig\nkiwi\npear\n"},
		{"--no-headers --sort-by size", "kiwi\nfig\npear\n"}, // as numbers, not as text
		{"-o name --sort-by -size", "pear\nfig\nkiwi\n"},
		{"-o name --sort-by from.land", "fig\npear\nkiwi\n"}, // those without it last, in their order
		{"-o wide --sort-by size --no-headers", "kiwi   xx\nfig    xxxxxxxxx\npear   xxxxxxxxxx\n"},
		{"-o jsonpath=$[*].name", "pear\nfig\nkiwi\n"},
		{"-o jsonpath={[?(@.size>5)].size}", "10\n9\n"},
		{"-o jsonpath=$[1].from", "{\"land\":\"tr\"}\n"},
		{"-o jsonpath=$[7].name", ""},
	} {
		if got, err := written(t, strings.Fields(c.args)...); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.args, err, got, c.want)
		}
	}
	for args, want := range map[string]string{
		"--sort-by siz":      `nothing that is listed has a field "siz"`,
		"-o jsonpath=$[":     "is not a JSONPath",
		"-o tabel":           `did you mean "table"?`,
		"-o jsonpath={name}": "is not a JSONPath",
	} {
		if _, err := written(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
