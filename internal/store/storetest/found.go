package storetest

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// finds: instances are found by name, key, correlation attribute and plain text, and listed without children.
func finds(k kit) {
	order := func(text string) expr.Value { return expr.Object(expr.Member{Key: "order", Value: expr.String(text)}) }
	keys := func(value string) []core.Key { return []core.Key{{Name: "order", Value: value, Fixed: true}} }
	k.create(store.Instance{ID: "a", Name: "Order 7", Key: "k7", Labels: order("7"), Indexed: true, Definition: "d"})
	k.create(store.Instance{ID: "b", Name: "Order 7", Parent: "a", Labels: order("8"), Keys: keys("7"), Indexed: true, Definition: "d"})
	k.create(store.Instance{ID: "c", Name: "7", Labels: order("9"), Definition: "d", Status: core.Paused})
	k.create(store.Instance{ID: "d", Parent: "a", Labels: order("7"), Keys: keys("k7"), Definition: "e"}) // of a version before
	k.create(store.Instance{ID: "7", Parent: "c", Definition: "e", Status: core.Paused})
	by := func(q store.Query) []string {
		rows, err := k.Instances(ctx, q)
		k.check(err)
		n, err := k.Count(ctx, q)
		k.check(err)
		k.want(fmt.Sprintf("count of %+v", q), n, len(rows))
		q.Limit, q.Newest = 1, true
		for i := len(rows) - 1; i >= 0; i-- { // one page after the other
			page, err := k.Instances(ctx, q)
			k.check(err)
			k.want(fmt.Sprintf("%+v", q), idsOf(page), []string{rows[i].ID})
			if len(page) == 1 {
				q.After = page[0].Seq
			}
		}
		return idsOf(rows)
	}
	k.want("by name", by(store.Query{Name: "Order 7"}), "[a b]")
	k.want("by a part of a name", by(store.Query{Name: "Order"}), "[]")
	k.want("by name, roots", by(store.Query{Name: "Order 7", Root: true}), "[a]")
	k.want("by the key of the start", by(store.Query{Key: "k7"}), "[a]")
	k.want("by a correlation attribute", by(store.Query{Key: "7"}), "[b]")
	k.want("by name and key", by(store.Query{Name: "Order 7", Key: "7"}), "[b]")
	k.want("by text", by(store.Query{Text: "7"}), "[a b c 7]")
	k.want("by an id", by(store.Query{Text: "d"}), "[d]")
	k.want("by text and label", by(store.Query{Text: "7", Labels: []store.Label{{Name: "order", Value: "8"}}}), "[b]")
	k.want("by text and definition", by(store.Query{Text: "7", Definition: "e"}), "[7]")
	k.want("roots", by(store.Query{Root: true}), "[a c]")
	k.want("roots by definition", by(store.Query{Root: true, Definition: "e"}), "[]")
	k.want("roots by status", by(store.Query{Root: true, Status: []core.Status{core.Paused}}), "[c]")
	k.want("all", by(store.Query{}), "[a b c d 7]")
	k.want("all by status", by(store.Query{Status: []core.Status{core.Paused}}), "[c 7]")
	k.change("a", func(r *store.Instance) { r.Name, r.Labels = "Order 8", order("7") })
	k.want("by the old name", by(store.Query{Name: "Order 7"}), "[b]")
	k.want("by the new name", by(store.Query{Name: "Order 8"}), "[a]")
	for _, id := range []string{"b", "d", "7"} {
		k.change(id, func(r *store.Instance) { r.Tree = "a~1" })
	}
	k.want("of a tree", by(store.Query{Tree: "a~1"}), "[b d 7]")
	k.want("of a tree, by definition", by(store.Query{Tree: "a~1", Definition: "e"}), "[d 7]")
	k.want("of a tree, by status", by(store.Query{Tree: "a~1", Status: []core.Status{core.Paused}}), "[7]")
	k.want("of a tree, by name", by(store.Query{Tree: "a~1", Name: "Order 7"}), "[b]")
	k.want("of a tree, by label", by(store.Query{Tree: "a~1", Labels: []store.Label{{Name: "order", Value: "7"}}}), "[d]")
	k.want("of a tree, roots", by(store.Query{Tree: "a~1", Root: true}), "[]")
	k.want("of another tree", by(store.Query{Tree: "a"}), "[]")
	k.change("d", func(r *store.Instance) { r.Status = core.Completed })
	k.want("of a tree, one is over", by(store.Query{Tree: "a~1"}), "[b 7]")
	k.check(k.DeleteInstance(ctx, "b", store.Deletion{Live: true}))
	k.want("of a tree, one is deleted", by(store.Query{Tree: "a~1"}), "[7]")
	k.want("deleted", by(store.Query{Text: "Order 7"}), "[]")
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", len(problems), 0)
}
