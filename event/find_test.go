package event

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func TestFind(t *testing.T) {
	e, err := Parse([]byte(`{"specversion":"1.0","id":"i","source":"s","type":"t","subject":"sub","order":"o-1","n":7,
		"data":{"order":"other","deep":{"id":12345678901234567890},"type":"of the data","none":null,"list":[1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{
		"order": "o-1", "subject": "sub", "deep": `{"id":12345678901234567890}`, "n": "7",
		"$.data.deep.id": "12345678901234567890", "$.deep.id": "12345678901234567890", "$.order": "o-1", "$.type": "t",
		"$.data.list[0]": "1", "list": "[1]",
		"none": "", "missing": "", "$.data.none": "", "$.missing.deeper": "", "$[": "",
	} {
		got, ok := e.Find(place)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t; want %q", place, got, ok, want)
		}
	}
	if got, ok := (Event{ID: "i", Source: "s", Type: "t"}).Find("$.x"); ok {
		t.Errorf("an event without data has %q", got)
	}
}

// Keys look where they are told, and say where that was.
func TestKeysElsewhere(t *testing.T) {
	e := Event{ID: "i", Source: "s", Type: "t", Data: expr.Object(expr.Member{Key: "order", Value: expr.Int(5)}), HasData: true}
	at := func(from, value string) Filter {
		return Filter{Keys: []Key{{Name: "token", From: from, Value: value, Fixed: true}}}
	}
	for _, c := range []struct {
		filter Filter
		why    string
	}{
		{at("$.data.order", "5"), ""},
		{at("order", "5"), ""},
		{at("order", "6"), `order is "5", not "6"`},
		{at("$.data.number", "5"), `it has nothing at $.data.number, which must be "5"`},
		{Filter{Keys: []Key{{Name: "token", From: "$.data.number"}}}, ""},
		{Filter{Either: "t"}, ""},
		{Filter{Either: "i"}, ""},
		{Filter{Either: "s"}, `neither its type "t" nor its id "i" is "s"`},
		{Filter{Either: "i", Type: "u"}, `type is "t", not "u"`},
	} {
		if ok, why := c.filter.Match(e); ok != (c.why == "") || why != c.why {
			t.Errorf("%+v: %t, %q", c.filter, ok, why)
		}
	}
}

// An instance finds what keys found under their names; data and the other events stay as they are.
func TestHanded(t *testing.T) {
	e := Event{ID: "i", Source: "s", Type: "t", Data: expr.Object(expr.Member{Key: "order", Value: expr.Int(5)}), HasData: true}
	got := e.Handed([]Key{{Name: "the token", From: "order"}, {Name: "other", From: "$.none"}, {Name: "subject"}}).String()
	const want = `{"data":{"order":5},"id":"i","source":"s","specversion":"1.0","the token":"5","type":"t"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := e.Value().String(); got == want {
		t.Error("the event itself has changed")
	}
}
