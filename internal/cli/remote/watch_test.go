package remote

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestWatchedList: after the list, -w writes what is new or changed, tells what is gone, and outlasts a server that is
// away for a moment.
func TestWatchedList(t *testing.T) {
	away := &client.UnreachableError{URL: "http://x"}
	looks := []struct {
		nodes []api.Node
		err   error
	}{
		{nodes: []api.Node{{Name: "a", Shards: 4}, {Name: "b", Shards: 4}}},
		{nodes: []api.Node{{Name: "a", Shards: 4, Calls: 7}, {Name: "b", Shards: 4}}}, // calls come and go
		{err: away},
		{err: away},
		{nodes: []api.Node{{Name: "a", Shards: 8}}},
		{nodes: []api.Node{{Name: "a", Shards: 8}, {Name: "c"}}},
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out, told bytes.Buffer
		a := &cli.App{Out: &out, Err: &told}
		l := cli.Listing[api.Node]{
			Columns: []string{"NAME"}, Row: func(n api.Node) []string { return []string{n.Name} },
			Name:   func(n api.Node) string { return n.Name },
			Steady: func(n api.Node) api.Node { n.Calls = 0; return n },
		}
		list := func() iter.Seq2[api.Node, error] {
			if len(looks) == 0 {
				cancel()
				return func(func(api.Node, error) bool) {}
			}
			now := looks[0]
			looks = looks[1:]
			return client.All(func(string) (api.Page[api.Node], error) { return api.Page[api.Node]{Items: now.nodes}, now.err })
		}
		err := List(ctx, a, l, &cli.ListFlags{Format: cli.AsFormat("table"), Watch: true}, list)
		if f := cli.AsFailure(err); f.Exit != cli.ExitInterrupted || !f.Shown {
			t.Errorf("it ended with %v", err)
		}
		if want := "NAME\na\nb\na\nc\n"; out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
		if said := told.String(); strings.Count(said, "; retrying\n") != 1 || strings.Count(said, "\n") != 2 || !strings.HasSuffix(said, "b is no longer listed\n") {
			t.Errorf("told %q", said)
		}
	})
}

// TestWatchedListEnds: an error that will not pass ends -w, and so does one before the list was written.
func TestWatchedListEnds(t *testing.T) {
	l := cli.Listing[api.Node]{Row: func(n api.Node) []string { return []string{n.Name} }, Name: func(n api.Node) string { return n.Name }}
	for _, c := range []struct {
		first, second error
	}{{first: &client.UnreachableError{URL: "http://x"}}, {second: &client.Problem{Problem: api.Problem{Status: 403}}}} {
		synctest.Test(t, func(t *testing.T) {
			errs := []error{c.first, c.second}
			list := func() iter.Seq2[api.Node, error] {
				err := errs[0]
				errs = errs[1:]
				return client.All(func(string) (api.Page[api.Node], error) { return api.Page[api.Node]{}, err })
			}
			err := List(t.Context(), &cli.App{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, l, &cli.ListFlags{Format: cli.AsFormat("jsonl"), Watch: true}, list)
			if want := c.first; want == nil && err != c.second || want != nil && err != want {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
