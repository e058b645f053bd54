package naive10

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/itchyny/gojq"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// Error is an error inside a workflow.
type Error struct{ Object map[string]any }

func (e *Error) Error() string { return text(e.Object["type"]) }

const standardTypes = "https://open-workflow-specification.org/spec/1.0.0/errors/"

var defaultStatus = map[string]int{
	"configuration": 400, "validation": 400, "expression": 400, "authentication": 401,
	"authorization": 403, "timeout": 408, "communication": 500, "runtime": 500,
}

// standard makes an error of a standard type. Titles and details of these are the runtime's own affair.
func standard(name string) *Error {
	return &Error{map[string]any{"type": standardTypes + name, "status": defaultStatus[name]}}
}

// placed says where an error came from, unless that is known.
func placed(err error, ptr string) error {
	if e, ok := err.(*Error); ok && e.Object["instance"] == nil {
		o := maps.Clone(e.Object)
		o["instance"] = ptr
		return &Error{o}
	}
	return err
}

// spelled is a standard type in any way the specification spells it.
var spelled = regexp.MustCompile(`^https://(?:serverlessworkflow\.io|open-workflow-specification\.org)/(?:spec/1\.0\.0/errors|dsl/errors/types)/([a-z]+)$`)

// sameType compares the types of two errors.
func sameType(a, b string) bool {
	canonical := func(s string) string {
		if m := spelled.FindStringSubmatch(s); m != nil && defaultStatus[m[1]] != 0 {
			return standardTypes + m[1]
		}
		return s
	}
	return canonical(a) == canonical(b)
}

// escape writes a name as a step of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// expression returns what is between ${ and }, if a text is that as a whole.
func expression(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") {
		return s[2 : len(s)-1], true
	}
	return s, false
}

var secretNames = regexp.MustCompile(`\$secrets\s*(?:\.\s*([A-Za-z_][A-Za-z_0-9]*)|\.?\s*\[\s*"([^"]*)"\s*\]|\.\s*"([^"]*)")`)

// eval evaluates an expression, delimited or not.
func (in *instance) eval(sc scope, src string, dot any) (any, error) {
	src, _ = expression(src)
	if strings.Contains(src, "$context") {
		in.touches(false)
	}
	secrets := map[string]any{}
	for _, name := range list(object(in.def["use"])["secrets"]) {
		if v, ok := in.w.c.Secrets[text(name)]; ok {
			secrets[text(name)] = v
		}
	}
	for _, m := range secretNames.FindAllStringSubmatch(src, -1) {
		if _, ok := secrets[m[1]+m[2]+m[3]]; !ok {
			in.w.saw("a secret that is not there")
			return nil, standard("authorization")
		}
	}
	vars := map[string]any{
		"context": in.context, "secrets": secrets,
		"workflow": map[string]any{"id": in.id, "definition": in.def, "input": in.input, "startedAt": in.w.describe(in.Created)},
		"runtime":  map[string]any{"name": "lockstep", "version": "naive", "metadata": map[string]any{}},
	}
	maps.Copy(vars, sc.vars)
	return jq(src, dot, vars)
}

// jq runs a filter: no result is null, several are an error.
func jq(src string, dot any, vars map[string]any) (any, error) {
	var names []string
	var values []any
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		names = append(names, "$"+name)
		values = append(values, vars[name])
	}
	code := compile(src, names)
	if code == nil {
		return nil, standard("expression")
	}
	results := code.Run(dot, values...)
	v, ok := results.Next()
	if !ok {
		return nil, nil
	}
	if _, failed := v.(error); failed {
		return nil, standard("expression")
	}
	if _, more := results.Next(); more {
		return nil, standard("expression")
	}
	return v, nil
}

var compiled sync.Map // generated cases say the same things again and again

// compile compiles a filter; nil if it is none.
func compile(src string, names []string) *gojq.Code {
	key := strings.Join(names, " ") + "\n" + src
	if code, ok := compiled.Load(key); ok {
		return code.(*gojq.Code)
	}
	var code *gojq.Code
	if query, err := gojq.Parse(src); err == nil {
		code, _ = gojq.Compile(query, gojq.WithVariables(names))
	}
	compiled.Store(key, code)
	return code
}

// truth evaluates a condition: false and null are false.
func (in *instance) truth(sc scope, cond, dot any) (bool, error) {
	if b, ok := cond.(bool); ok {
		return b, nil
	}
	v, err := in.eval(sc, text(cond), dot)
	return err == nil && v != nil && v != false, err
}

// transform is a text that is always an expression, or an object with some; nil leaves the data.
func (in *instance) transform(sc scope, as, dot any) (any, error) {
	switch x := as.(type) {
	case nil:
		return dot, nil
	case string:
		return in.eval(sc, x, dot)
	default:
		return in.template(sc, x, dot)
	}
}

// template evaluates the expressions inside of a value, at any depth. Keys are none.
func (in *instance) template(sc scope, v, dot any) (any, error) {
	switch x := v.(type) {
	case string:
		return in.templateText(sc, x, dot)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = in.template(sc, x[i], dot); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			var err error
			if out[key], err = in.template(sc, x[key], dot); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// templateText is strict or loose, as the workflow says.
func (in *instance) templateText(sc scope, s string, dot any) (any, error) {
	if text(object(in.def["evaluate"])["mode"]) == "loose" {
		v, err := in.eval(sc, s, dot)
		if err != nil {
			in.w.saw("a text that is no expression, loosely")
			return s, nil
		}
		in.w.saw("a text that is an expression, loosely")
		return v, nil
	}
	if _, ok := expression(s); ok {
		return in.eval(sc, s, dot)
	}
	return s, nil
}

// validate checks data against the schema of an input, output or export.
func (in *instance) validate(holder map[string]any, data any) error {
	document, ok := object(holder["schema"])["document"]
	if !ok {
		return nil
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", forSchema(document)); err != nil {
		panic("naive10: " + err.Error())
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		panic("naive10: " + err.Error())
	}
	if schema.Validate(forSchema(data)) != nil {
		in.w.saw("data that violates a schema")
		return standard("validation")
	}
	in.w.saw("data that satisfies a schema")
	return nil
}

// forSchema gives a value in the form that the validator has.
func forSchema(v any) any {
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(Encode(v)))
	if err != nil {
		panic("naive10: " + err.Error())
	}
	return out
}

// named finds what a definition gives in place, or by its name among the components.
func (in *instance) named(kind string, v any) (map[string]any, bool) {
	if name, ok := v.(string); ok {
		v = object(object(in.def["use"])[kind])[name]
		in.w.saw("use." + kind)
	}
	m, ok := v.(map[string]any)
	return m, ok
}

// duration reads a duration: parts, ISO 8601, or an expression that gives it.
func (in *instance) duration(sc scope, v, dot any) (time.Duration, error) {
	if parts, ok := v.(map[string]any); ok {
		units := map[string]time.Duration{
			"days": 24 * time.Hour, "hours": time.Hour, "minutes": time.Minute, "seconds": time.Second, "milliseconds": time.Millisecond,
		}
		sum := time.Duration(0)
		for unit, n := range parts {
			sum += time.Duration(n.(int)) * units[unit]
		}
		return sum, nil
	}
	iso := text(v)
	if src, ok := expression(iso); ok {
		v, err := in.eval(sc, src, dot)
		if err != nil {
			return 0, err
		}
		iso = text(v)
	}
	d, err := calendar.ParseDuration(iso)
	if err != nil {
		return 0, standard("expression")
	}
	now := in.w.c.Start.Add(in.w.now)
	return d.AddTo(now).Sub(now), nil
}

// instant is now as expressions see it.
func (w *world) instant() map[string]any { return w.describe(w.now) }

func (w *world) describe(at time.Duration) map[string]any {
	t := w.c.Start.Add(at)
	return map[string]any{"iso8601": t.UTC().Format(time.RFC3339Nano), "epoch": map[string]any{"seconds": int(t.Unix()), "milliseconds": int(t.UnixMilli())}}
}

// Decode reads JSON.
func Decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return Normalise(v), nil
}

// Normalise gives a decoded value the form that gojq has.
func Normalise(v any) any {
	switch x := v.(type) {
	case json.Number:
		if n, ok := new(big.Int).SetString(x.String(), 10); ok {
			if n.IsInt64() {
				return int(n.Int64())
			}
			return n
		}
		f, _ := x.Float64()
		return f
	case int64:
		return int(x)
	case uint64:
		return int(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = Normalise(x[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = Normalise(e)
		}
		return out
	}
	return v
}

// Encode writes a value as JSON with sorted keys, so that equal values are equal texts.
func Encode(v any) []byte {
	out, err := gojq.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("naive10: %v", err))
	}
	return out
}

func equal(a, b any) bool { return gojq.Compare(a, b) == 0 }

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func list(v any) []any { l, _ := v.([]any); return l }

func text(v any) string { s, _ := v.(string); return s }

// single is the name and the value of an object of one member.
func single(v any) (string, map[string]any) {
	for name, e := range object(v) {
		return name, object(e)
	}
	panic("naive10: an empty entry")
}
