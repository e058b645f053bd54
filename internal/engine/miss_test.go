package engine

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// TestMissIsReadFromItsSentence: whatever ids, names and values there are, what is read is what was written.
func TestMissIsReadFromItsSentence(t *testing.T) {
	hostile := []string{"", "a", `"`, `\`, `a" is "b`, `x is "a", not "b"`, `": `, `" waits for "`, "\xff", "two\nlines", "ü", ", not "}
	for _, a := range hostile {
		for _, b := range hostile {
			key := event.Key{Name: "order", Value: a, Fixed: true}
			_, differs := event.Filter{Keys: []event.Key{key}}.Match(event.Event{Extensions: []expr.Member{{Key: "order", Value: expr.String(b)}}})
			for _, m := range []Miss{
				{Instance: "i" + a, Name: b, Differs: differs},
				{Definition: "d" + a, Name: b, Differs: differs},
			} {
				if a != b {
					m.Attribute, m.Has, m.Wants = "order", b, a
				}
				if got, ok := ReadMiss(m.String()); !ok || got != m {
					t.Errorf("%s\nread as %+v\n instead %+v", m, got, m)
				}
			}
		}
	}
	path := event.Filter{Keys: []event.Key{{Name: "k", From: `$.data[?(@.name is "x")].id`, Value: "1", Fixed: true}}}
	ev := event.Event{HasData: true}
	if _, differs := path.Match(ev); differs != "" {
		if m, ok := ReadMiss(Miss{Instance: "i", Name: "n", Differs: differs}.String()); !ok || m.Attribute != "" || m.Differs != differs {
			t.Errorf("without a value: %+v, %t", m, ok)
		}
	}
	if a, has, wants := readDiffers(`a is "x" b is "1", not "2"`); a != `a is "x" b` || has != "1" || wants != "2" {
		t.Errorf("an expression as the attribute: %q %q %q", a, has, wants)
	}
	for _, why := range []string{
		"", "instance ", `instance "x`, `instance "x" waits for it, and gets an earlier event first`, `definition "d" produced it, and does not start itself`,
		`definition "d" starts with it, but its schedule is not active`, `no instance waits for events of type "t", and no definition starts with them`,
		`instance "x" starts with "y": z`, `it belongs to instance "x", which does not wait for it now`, `instance "x" waits for "y", but it is late`,
	} {
		if m, ok := ReadMiss(why); ok {
			t.Errorf("%q is no miss: %+v", why, m)
		}
	}
}
