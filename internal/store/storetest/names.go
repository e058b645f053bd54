package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// names: no store takes a name that another one cannot hold, and each says which name it is.
func names(k kit) {
	for _, bad := range []string{"x\x00y", "x\xff"} {
		refused := func(field string, err error) {
			k.t.Helper()
			if !errors.Is(err, store.ErrText) || !strings.Contains(fmt.Sprint(err), field) {
				k.t.Errorf("%s %q: %v", field, bad, err)
			}
		}
		for field, d := range map[string]store.Definition{
			"id": {ID: bad, Version: "1", Digest: "x"}, "version": {ID: "d", Version: bad, Digest: "x"}, "digest": {ID: "d", Version: "1", Digest: bad},
		} {
			d.Program = Program("d")
			_, err := store.PutDefinition(ctx, k, d, nil, false)
			refused(field, err)
		}
		for field, in := range map[string]store.Instance{
			"id": {ID: bad}, "definition": {ID: "a", Definition: bad}, "version": {ID: "a", Version: bad}, "parent": {ID: "a", Parent: bad},
			"client": {ID: "a", Job: store.Job{Client: bad}}, "state": {ID: "a", Job: store.Job{State: bad}}, "group": {ID: "a", Job: store.Job{State: "s", Group: bad}},
		} {
			in.Status = core.Waiting
			refused(field, k.Commit(ctx, store.Commit{Instance: in}))
			refused(field, k.Commit(ctx, store.Commit{Instance: store.Instance{ID: "p"}, Children: []store.NewInstance{{Instance: in}}}))
		}
	}
	rows, err := k.Instances(ctx, store.Query{})
	k.check(err)
	definitions, err := k.ListDefinitions(ctx)
	k.check(err)
	k.want("what is stored", len(rows)+len(definitions), 0)
}
