package sw10

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every explanation's Bad leads to its code and to no other that the explanation does not name; its
// Good leads to nothing but that a task cannot run yet.
func TestExplanations(t *testing.T) {
	for _, e := range Codes() {
		t.Run(e.Code, func(t *testing.T) {
			if e.Title == "" || e.Text == "" {
				t.Error("no title or text")
			}
			_, found := read(t, complete(e.Bad))
			var codes []string
			for _, d := range found {
				codes = append(codes, d.Code)
				if d.Code != e.Code && !strings.Contains(e.Text, d.Code) {
					t.Errorf("Bad leads to another code: %v", d)
				}
			}
			if !slices.Contains(codes, e.Code) {
				t.Errorf("Bad does not lead to the code, but to: %v", found)
			}
			_, found = read(t, complete(e.Good))
			for _, d := range found {
				if d.Code != codeNotYet || e.Code == codeNotYet { // what cannot run yet is good all the same
					t.Errorf("Good leads to: %v", d)
				}
			}
		})
	}
}

// Every code that the sources name is explained, once, and in order.
func TestEveryCodeIsExplained(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`"(OW\d+)"`).FindAllStringSubmatch(string(source), -1)
	var want, got []string
	for _, m := range declared {
		want = append(want, m[1])
	}
	for _, e := range Codes() {
		got = append(got, e.Code)
	}
	if !slices.Equal(want, got) {
		t.Errorf("declared %v\nexplained %v", want, got)
	}
}
