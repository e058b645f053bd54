package server

import (
	"slices"
	"strings"
	"testing"
)

// TestParseQuery: a query is read as net/url reads it, and what the route does not know is refused.
func TestParseQuery(t *testing.T) {
	rt := route{params: []string{"wait", "label", "q"}}
	got, err := rt.parseQuery("&wait=1%20s&label=a%3D1&q&label=b+c&", nil)
	if want := (params{{"wait", "1 s"}, {"label", "a=1"}, {"q", ""}, {"label", "b c"}}); !slices.Equal(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got.Get("label") != "a=1" || got.Get("none") != "" || !got.Has("q") || got.Has("none") {
		t.Errorf("%q", got)
	}
	for query, want := range map[string]string{
		"wait=1;q=2": "&", "q=%zz": "%zz", "%zz=q": "%zz", "wiat=1": `"wait"`, "q=1&q=2": "more than once",
	} {
		if _, err := rt.parseQuery(query, nil); err == nil || !strings.Contains(err.Error()+problemOf(err).Hint, want) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
