package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// results warns of properties that a definition reads of the result of a call, and that no answer of the operation has
// by the document. An answer may have more than its document says, so that is no error.
func (k callCheck) results(reads []pin.Read) {
	if len(reads) == 0 {
		return
	}
	answers := k.answers()
	for _, read := range reads {
		var known []string
		at, lacking := 0, len(answers) > 0
		for _, answer := range answers {
			depth, names := k.lacks(answer, read.Path)
			lacking = lacking && names != nil
			at, known = max(at, depth), append(known, names...)
		}
		if !lacking {
			continue
		}
		name := strings.Join(read.Path[:at+1], ".")
		slices.Sort(known)
		d := k.f.Warnf(read.Place, pin.CodeResult, "function %q: the answer of %q has no %q", k.fn.Name, k.o.id, name)
		d.WithHint("it has %s", few(known)).DidYouMean(read.Path[at], known)
	}
}

// lacks follows a path of names in a schema. Where the schema describes an object without the name at depth, it returns
// the names that the object has; nil: the value may have the path.
func (k callCheck) lacks(schema place, path []string) (depth int, names []string) {
	for depth, name := range path {
		properties := map[string]place{}
		if k.shape(schema, properties, 0) || len(properties) == 0 || k.textOf(schema, "type") == "array" {
			return depth, nil
		}
		next, ok := properties[name]
		if !ok {
			return depth, slices.Sorted(maps.Keys(properties))
		}
		schema = next
	}
	return 0, nil
}

// answers are the schemas of the answers of a call that succeeds; none where one of them may be anything.
func (k callCheck) answers() []place {
	found, err := k.find(k.o.id)
	if err != nil {
		return nil
	}
	all, _ := found.op.member("responses")
	var out, others []place
	for _, m := range all.Members() {
		isDefault := strings.EqualFold(m.Key, "default")
		if !isDefault && !strings.HasPrefix(m.Key, "2") {
			continue
		}
		answer, err := k.lib.follow(place{all.doc, "", m.Value})
		if err != nil {
			return nil
		}
		schemas, ok := k.contents(answer)
		switch {
		case isDefault && !ok:
			schemas = []place{{all.doc, "", expr.Bool(true)}} // anything
			fallthrough
		case isDefault:
			others = append(others, schemas...)
		case !ok:
			return nil
		default:
			out = append(out, schemas...)
		}
	}
	if len(out) == 0 {
		return others // the default describes failures where a success is described as well
	}
	return out
}

// contents are the schemas of one answer; ok is false where some content has none, or is not JSON.
func (k callCheck) contents(answer place) (out []place, ok bool) {
	if k.version == v2 {
		if schema, has := answer.member("schema"); has {
			out = append(out, schema)
		}
		return out, true
	}
	content, _ := answer.member("content")
	for _, m := range content.Members() {
		schema, has := place{content.doc, "", m.Value}.member("schema")
		if !has || !isJSON(m.Key) {
			return nil, false
		}
		out = append(out, schema)
	}
	return out, true
}
