package load

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestSecretsInOrder: the later of two sources wins, whatever their flags are.
func TestSecretsInOrder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	folder := filepath.Join(dir, "folder")
	for path, text := range map[string]string{file: "a: of the file", filepath.Join(folder, "a"): "of the folder"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ORDER_SECRET_a", "of the environment")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--secrets", file, "--secrets-dir", folder, "--secrets-env", "ORDER_SECRET_"}, "of the environment"},
		{[]string{"--secrets-env", "ORDER_SECRET_", "--secrets-dir", folder, "--secrets", file}, "of the file"},
		{[]string{"--secrets", file, "--secrets-env", "ORDER_SECRET_", "--secrets-dir", folder}, "of the folder"},
		{[]string{"--secrets-dir", folder, "--secrets", file, "--secrets-dir", folder}, "of the folder"},
		{nil, ""},
	} {
		var flags Secrets
		cmd := &cobra.Command{}
		flags.Add(cmd)
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		var warnings bytes.Buffer
		store, err := flags.Open(&cli.App{Err: &warnings})
		if err != nil || warnings.Len() > 0 || (store == nil) != (c.args == nil) {
			t.Fatal(store, err, warnings.String())
		}
		if v, _ := store.Get("a"); v.Str() != c.want {
			t.Errorf("%v: %s, want %s", c.args, v, c.want)
		}
	}
	// Settings replace what a flag has, and no other.
	var flags Secrets
	cmd := &cobra.Command{}
	flags.Add(cmd)
	if err := cmd.ParseFlags([]string{"--secrets", "x", "--secrets-dir", "d", "--secrets", "y"}); err != nil {
		t.Fatal(err)
	}
	many := cmd.Flags().Lookup("secrets").Value.(pflag.SliceValue)
	if err := many.Replace([]string{"z"}); err != nil {
		t.Fatal(err)
	}
	if got := flags.given; len(got) != 2 || got[0] != (givenSource{"secrets-dir", "d"}) || got[1] != (givenSource{"secrets", "z"}) {
		t.Errorf("%v", got)
	}
}
