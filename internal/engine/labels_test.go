package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// declared is a program that declares a name and labels.
func declared(id string, labels map[string]string) *ir.Program {
	b := build(id)
	for key, src := range labels {
		b.p.Labels = append(b.p.Labels, ir.Label{Key: key, Value: b.expr("template", src)})
	}
	return b.main(delay(time.Hour))
}

// TestLabels: a definition declares the name and the labels of its instances, a start replaces them, and one that
// cannot be computed is left out with a warning.
func TestLabels(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	h.deploy(declared("w", map[string]string{
		"name": `"Order {{ $.order }}"`, "order": `"{{ $.order }}"`, "list": `"{{ $.list }}"`, "deep": `"{{ $.deep }}"`, "long": `"{{ $.long }}"`,
	}))
	row := func(r StartRequest) store.Instance {
		t.Helper()
		r.Definition = "w"
		id, err := h.Start(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		in, err := h.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	in := row(StartRequest{Input: object(t, `{"order":"A-1","list":["x",7,true]}`)})
	if in.Name != "Order A-1" || in.Labels.String() != `{"list":["x",7,true],"order":"A-1"}` || !in.Indexed {
		t.Errorf("%q %s", in.Name, in.Labels)
	}
	in = row(StartRequest{Input: object(t, `{"order":"A-1","list":[]}`), Name: "Mine", Labels: map[string]string{"order": "A-2", "team": "red"}})
	if in.Name != "Mine" || in.Labels.String() != `{"list":[],"order":"A-2","team":"red"}` {
		t.Errorf("%q %s", in.Name, in.Labels)
	}
	in = row(StartRequest{Input: object(t, `{"order":7,"deep":{"a":1},"long":"`+strings.Repeat("x", ir.MaxLabelValue)+`"}`)})
	if in.Name != "Order 7" || in.Labels.String() != `{"order":7}` {
		t.Errorf("%q %s", in.Name, in.Labels)
	}
	var warnings []string
	records, err := h.store.Records(ctx, in.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Type == core.RecWarning {
			warnings = append(warnings, r.Text)
		}
	}
	for _, want := range []string{`label "deep" must be a text`, "limit label-value"} {
		if !strings.Contains(strings.Join(warnings, "\n"), want) {
			t.Errorf("no warning says %q: %q", want, warnings)
		}
	}
	in = row(StartRequest{Input: object(t, `{"order":"`+strings.Repeat("é", ir.MaxName)+`\n"}`)})
	if len(in.Name) > ir.MaxName || !strings.HasSuffix(in.Name, "é…") || core.CheckLabelValue("a", in.Labels) == "" || ir.CheckName(in.Name) != "" {
		t.Errorf("%d bytes: %q", len(in.Name), in.Name)
	}
	for name, want := range map[string]string{"": "needs a name", "name": "is the name", "a b": "letters and digits", strings.Repeat("a", 65): "limit label-name"} {
		_, err := h.Start(ctx, StartRequest{Definition: "w", Labels: map[string]string{name: "x"}})
		var bad *LabelError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("label %.10q: %v", name, err)
		}
	}
	many := map[string]string{}
	for i := range ir.MaxLabels + 1 {
		many[fmt.Sprint("l", i)] = ""
	}
	for want, r := range map[string]StartRequest{
		"limit instance-labels": {Labels: many}, "limit instance-name": {Name: strings.Repeat("a", 257)}, "control characters": {Name: "a\nb"},
		"limit label-value": {Labels: map[string]string{"a": strings.Repeat("a", 2000)}}, "not UTF-8": {Labels: map[string]string{"a": "\xff"}},
	} {
		r.Definition = "w"
		if _, err := h.Start(ctx, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestChosenIDs: the same id with the same input is the same start, also after the end; another one is refused. What
// an instance does under an id that a deleted one had is not taken for what that one did.
func TestChosenIDs(t *testing.T) {
	ctx := context.Background()
	var keys []string
	h := newHarness(t, mock.Mocks{"f": {gives(`{}`), gives(`{}`)}}, func(c *Config) {
		invoker := c.Invoker
		c.Invoker = effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			keys = append(keys, call.Key)
			return invoker.Invoke(ctx, call)
		})
	})
	b, p := build("w"), build("p")
	h.deploy(b.main(b.call("f")), p.main(spawn("w", true)), build("x").main(delay(time.Hour)))
	ask := func(definition, id, input string) (bool, error) {
		got, again, err := h.StartOnce(ctx, StartRequest{Definition: definition, ID: id, Input: object(t, input)}, "")
		if err == nil && got != id {
			t.Errorf("the id is %s", got)
		}
		return again, err
	}
	if again, err := ask("w", "order-7", `{"a":1}`); again || err != nil {
		t.Fatal(again, err)
	}
	h.poll()
	h.want("order-7", core.Completed, "")
	if again, err := ask("w", "order-7", `{"a":1}`); !again || err != nil {
		t.Error(again, err)
	}
	var exists *ExistsError
	if _, err := ask("w", "order-7", `{"a":2}`); !errors.As(err, &exists) {
		t.Errorf("another input: %v", err)
	}
	if _, err := ask("x", "order-7", `{"a":1}`); !errors.As(err, &exists) {
		t.Errorf("another definition: %v", err)
	}
	if err := h.DeleteInstance(ctx, "order-7", 0); err != nil {
		t.Fatal(err)
	}
	h.run(time.Second)
	if again, err := ask("p", "order-7", `{"a":2}`); again || err != nil {
		t.Fatal(again, err)
	}
	h.poll()
	h.want("order-7", core.Completed, "")
	if row, err := h.Get(ctx, "order-7"); err != nil || row.Children != 1 {
		t.Errorf("%d children, %v", row.Children, err)
	}
	if len(keys) != 2 || keys[0] == keys[1] || !strings.HasPrefix(keys[0], "order-7~") {
		t.Errorf("the calls have the keys %q", keys)
	}
}

// TestPlainIDs: an id that nobody chose is short and plain, and a key that a version before used finds its instance.
func TestPlainIDs(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	h.deploy(build("w").main(delay(time.Hour)))
	if _, err := h.store.DeleteNote(ctx, noteKind, plainNote); err != nil {
		t.Fatal(err)
	}
	h.Engine.ids.Store(int32(idsUnknown)) // as a store that a version before left
	before := deriveID(keyed, "w", "old")
	d, err := h.find(ctx, "w", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.create(ctx, d, 0, newRow(d, before, h.now()), core.Start{Data: object(t, `{}`)}, nil); err != nil {
		t.Fatal(err)
	}
	id, _, err := h.StartOnce(ctx, StartRequest{Definition: "w"}, "k")
	if err != nil || len(id) != 16 || !validID(id) {
		t.Errorf("%q: %v", id, err)
	}
	if row, err := h.Get(ctx, id); err != nil || row.Key != "k" {
		t.Errorf("%+v: %v", row, err)
	}
	auto, _, err := h.StartOnce(ctx, StartRequest{Definition: "w"}, "auto:x")
	if row, _ := h.Get(ctx, auto); err != nil || row.Key != "" {
		t.Errorf("%+v: %v", row, err)
	}
	if id, again, err := h.StartOnce(ctx, StartRequest{Definition: "w"}, "old"); id != before || !again || err != nil {
		t.Errorf("%s, %t, %v", id, again, err)
	}
	var conflict *KeyConflictError
	if _, _, err := h.StartOnce(ctx, StartRequest{Definition: "w", Input: object(t, `{"a":1}`)}, "old"); !errors.As(err, &conflict) {
		t.Error(err)
	}
	if plain, err := h.onlyPlainIDs(ctx); plain || err != nil {
		t.Errorf("a store that is older: %t, %v", plain, err)
	}
	fresh := newHarness(t, nil)
	if plain, err := fresh.onlyPlainIDs(ctx); !plain || err != nil {
		t.Errorf("a store that was empty: %t, %v", plain, err)
	}
	if _, err := fresh.store.Note(ctx, noteKind, plainNote); err != nil {
		t.Errorf("the next process: %v", err)
	}
}
