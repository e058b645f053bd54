package jsonpath

import (
	"reflect"
	"testing"
)

func TestDescribe(t *testing.T) {
	for src, want := range map[string]Shape{
		"$":                      {Root: true, Definite: true, Keys: []string{}},
		"{{ $ }}":                {Root: true, Definite: true, Keys: []string{}},
		"$.a":                    {Definite: true, Depth: 1, Name: "a", First: "a", Keys: []string{"a"}},
		" {{ $.a['b'].c }} ":     {Definite: true, Depth: 3, Name: "c", First: "a", Keys: []string{"a", "b", "c"}},
		"$.items[0]":             {Definite: true, Depth: 2, Name: "items", First: "items"},
		"$.items[0].name":        {Definite: true, Depth: 3, Name: "name", First: "items"},
		"$[0]":                   {Definite: true, Depth: 1},
		"$[0].a":                 {Definite: true, Depth: 2, Name: "a"},
		"$.a['b','c']":           {Definite: true, Depth: 2, Name: "a", First: "a"},
		"$['b','c']":             {Definite: true, Depth: 1},
		"$['b','c'].d":           {Depth: 2, Name: "d"},
		"$.a[*]":                 {Depth: 2, Name: "a", First: "a"},
		"$.*":                    {Depth: 1},
		"$..a":                   {Depth: 1, Name: "a"},
		"$.a..b":                 {Depth: 2, Name: "b", First: "a"},
		"$.a[1:2]":               {Depth: 2, Name: "a", First: "a"},
		"$.a[0,1]":               {Depth: 2, Name: "a", First: "a"},
		"$[?(@.x == 1)]":         {Depth: 1},
		"$.veg.[?(@.like)]":      {Depth: 2, Name: "veg", First: "veg"},
		"$.people[?(@.a)].name":  {Depth: 3, Name: "name", First: "people"},
		"$.a.length()":           {Definite: true, Depth: 1, Name: "a", First: "a", Function: "length"},
		"$.length()":             {Definite: true, Function: "length"},
		"$.a[*].p.sum()":         {Definite: true, Depth: 3, Name: "p", First: "a", Function: "sum"},
		"$.a.first().b":          {Definite: true, Depth: 2, Name: "b", First: "a"},
		"$.a.first().b[*]":       {Depth: 3, Name: "b", First: "a"},
		"$.a.first().b.length()": {Definite: true, Depth: 2, Name: "b", First: "a", Function: "length"},
		"$.first().b":            {Definite: true, Depth: 1, Name: "b"},
	} {
		got, err := Describe(src)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", src, got, err, want)
		}
	}
	if _, err := Describe("Hello {{ $.a }}"); err == nil {
		t.Error("text was taken for a path")
	}
}
