package sim

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// emitSeeds is how many cases of each dialect are looked at.
const emitSeeds = 250

// ops are the operations that the programs of a dialect have; no other can come from it.
var ops = map[string][]string{
	"sw05": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"},
	"sw02": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "End"}, // it undoes nothing
	"sw01": {"Eval", "Branch", "Call", "Await", "Fan", "Enter", "Spawn", "Raise", "End"},         // it produces no events and undoes nothing
	"wfx":  {"Eval", "Await", "End"},
	"sw06": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"},
	"sw07": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"},
	"sw08": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"},
	"sw09": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"},
	"sw10": {"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "End"}, // a catch undoes
}

// unset are fields that no generated program sets, and why.
var unset = map[string]string{
	"Retry.JitterMillis": "jitter depends on the instance's seed",
	"Raise.Code":         "no dialect raises errors with codes",
}

// TestEverythingIsEmitted compiles generated cases and expects each operation, and each
// field of one, in some program.
func TestEverythingIsEmitted(t *testing.T) {
	seen := map[string]bool{}
	for i := range Dialects {
		d, here := &Dialects[i], map[string]bool{}
		for seed := uint64(1); seed <= emitSeeds; seed++ {
			programs, err := d.Generate(seed).Compile()
			if err != nil {
				t.Fatalf("%s: seed %d: %v", d.Name, seed, err)
			}
			for _, p := range programs {
				note(seen, here, p)
			}
		}
		for _, op := range ops["sw05"] {
			if want := contains(ops[d.Name], op); want != here[op] {
				t.Errorf("%s emits %s: %v, want %v", d.Name, op, here[op], want)
			}
		}
	}
	for _, v := range []any{ir.Eval{}, ir.Branch{}, ir.Call{}, ir.Await{}, ir.Emit{}, ir.Fan{}, ir.Enter{}, ir.Spawn{}, ir.Raise{}, ir.End{}, ir.Region{}, ir.Start{}, ir.Retry{}, ir.Each{}, ir.Arm{}, ir.Catch{}, ir.FanBranch{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			if _, except := unset[name]; seen[name] == except {
				t.Errorf("%s is set in a generated program: %v; %s", name, seen[name], unset[name])
			}
		}
	}
	for _, want := range []string{
		"join merge", "join append", "join array", "put merge", "put replace", "put set", "a delay", "one of several events", "all of several events", "an offer",
	} {
		if !seen[want] {
			t.Errorf("no program has %s", want)
		}
	}
}

func contains(list []string, s string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
}

// note notes what a program has.
func note(seen, here map[string]bool, p *ir.Program) {
	fields(seen, p.Start)
	for _, r := range p.Regions {
		fields(seen, r)
		for _, c := range r.Catch {
			fields(seen, c)
			if c.Retry != nil {
				fields(seen, *c.Retry)
			}
		}
	}
	for _, n := range p.Nodes {
		if n.Op == nil {
			continue
		}
		here[strings.TrimPrefix(fmt.Sprintf("%T", n.Op), "*ir.")] = true
		fields(seen, reflect.ValueOf(n.Op).Elem().Interface())
		switch op := n.Op.(type) {
		case *ir.Eval:
			seen["put "+string(op.Put.Mode)] = true
		case *ir.Await:
			seen["a delay"] = seen["a delay"] || len(op.Arms) == 0
			seen["one of several events"] = seen["one of several events"] || len(op.Arms) > 1 && op.Need == 1
			seen["all of several events"] = seen["all of several events"] || op.Need > 1
			for _, a := range op.Arms {
				fields(seen, a)
				seen["an offer"] = seen["an offer"] || a.Offer != nil
			}
		case *ir.Fan:
			seen["join "+string(op.Join)] = true
			for _, b := range op.Branches {
				fields(seen, b)
			}
			if op.Each != nil {
				fields(seen, *op.Each)
			}
		}
	}
}

// fields notes which fields of a struct are set.
func fields(seen map[string]bool, v any) {
	val := reflect.ValueOf(v)
	for i := range val.NumField() {
		if !val.Field(i).IsZero() {
			seen[val.Type().Name()+"."+val.Type().Field(i).Name] = true
		}
	}
}
