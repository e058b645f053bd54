package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestOutdated: a commit that depends on the definitions as they were does not happen once another one was
// deployed, be it of this process or of another; one that depends on none does.
func TestOutdated(t *testing.T) {
	url := pgtestURL(t)
	s, other := openURL(t, url, Options{}).Namespace("x").(*Store), openURL(t, url, Options{}).Namespace("x").(*Store)
	last := 0
	start := func(deployed int64) error {
		last++
		c := store.Commit{Instance: store.Instance{ID: fmt.Sprint(last), Status: core.Waiting}, Deployed: deployed}
		err := s.Commit(ctx, c)
		_, found := s.Instance(ctx, c.Instance.ID)
		if (err == nil) != (found == nil) {
			t.Errorf("commit: %v, and then: %v", err, found)
		}
		return err
	}
	deployments := func() int64 {
		n, err := s.Deployments(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, by := range []*Store{s, other, other} {
		before := deployments()
		if _, err := store.PutDefinition(ctx, by, store.Definition{ID: "d", Version: fmt.Sprint(i), Digest: fmt.Sprint(i)}, nil, false); err != nil {
			t.Fatal(err)
		}
		now := deployments()
		if now <= before {
			t.Errorf("a deployment was counted from %d to %d", before, now)
		}
		if err := start(before); before != 0 && !errors.Is(err, store.ErrOutdated) {
			t.Errorf("a commit that depends on what was before: %v", err)
		}
		for _, n := range []int64{0, now} {
			if err := start(n); err != nil {
				t.Errorf("deployments %d of %d: %v", n, now, err)
			}
		}
	}
}
