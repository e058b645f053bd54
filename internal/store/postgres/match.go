package postgres

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// anyType is the hash of filters without a type.
const anyType = 0

func typeOf(typ string) int64 {
	if typ == "" {
		return anyType
	}
	return codec.SumOf(typ)
}

// eventID is what duplicates have in common.
func eventID(e *event.Event) []byte {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d %s%s", len(e.Source), e.Source, e.ID)
	return h.Sum(nil)
}

// shardCount is how many parts the instances of a database are in. It is stored.
const shardCount = 64

// shardOf is the part that an instance is in.
func shardOf(id string) int16 { return int16(uint64(codec.SumOf(id)) % shardCount) }

// eventKey is where an event is found.
type eventKey struct{ typ, match int64 }

// keysOf lists where an event is found: once for every shape of its type, and of any type.
func keysOf(shapes map[int64][]codec.Shape, e *event.Event) (out []eventKey) {
	for _, typ := range []int64{anyType, typeOf(e.Type)} {
		for _, s := range shapes[typ] {
			for _, m := range s.Matches(e) {
				if k := (eventKey{typ, m}); !slices.Contains(out, k) {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// ownerKey is where the instances are found that have a correlation attribute fixed.
func ownerKey(definition string, k core.Key) int64 { return codec.SumOf(definition, k.Name, k.Value) }

// labelKeys are the hashes by which labels are found: by name, and by name and value.
func labelKeys(in *store.Instance) (out []int64) {
	for _, term := range in.Terms() {
		out = append(out, termKey(term))
	}
	var members []expr.Member
	if in.Labels.IsObject() {
		members = in.Labels.Members()
	}
	for _, m := range members {
		out = append(out, codec.SumOf(m.Key))
		for _, text := range store.LabelTexts(m.Value) {
			out = append(out, labelKey(store.Label{Name: m.Key, Value: text}))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// termKey is the hash of a term: of three texts, where that of a label is of one or two.
func termKey(term string) int64 { return codec.SumOf("", term, "") }

func labelKey(l store.Label) int64 {
	if l.Any {
		return codec.SumOf(l.Name)
	}
	return codec.SumOf(l.Name, l.Value)
}
