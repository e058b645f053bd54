package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

func TestTable(t *testing.T) {
	list, get, change, root, count, parts := "list", "get", "change", "root", "count", "parts"
	var table web.Table[string]
	table.Add("GET", "/jobs", &list)
	table.Add("GET", "/jobs/{id}", &get)
	table.Add("PUT", "/jobs/{id}", &change)
	table.Add("GET", "/{$}", &root)
	table.Add("GET", "/jobs/count", &count)
	table.Add("GET", "/jobs/{id}/parts/{part}", &parts)
	for _, c := range []struct{ method, path, route, id, allow string }{
		{"GET", "/jobs", "list", "", ""},
		{"HEAD", "/jobs", "list", "", ""},
		{"PUT", "/jobs/a%2Fb", "change", "a/b", ""},
		{"GET", "/jobs/%20", "get", " ", ""},
		{"GET", "/", "root", "", ""},
		{"GET", "/jobs/count", "count", "", ""},
		{"GET", "/jobs/count/parts/a%20b", "parts", "count", ""},
		{"GET", "/jobs/count/other", "", "", "none"},
		{"DELETE", "/jobs/a", "", "a", "GET, HEAD, OPTIONS, PUT"},
		{"OPTIONS", "/jobs", "", "", "GET, HEAD, OPTIONS"},
		{"GET", "/jobs/", "", "", "none"},
		{"GET", "/jobs//a", "", "", "none"},
		{"GET", "/x/../jobs", "", "", "none"},
		{"GET", "/nothing", "", "", "none"},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, nil)
		m := table.Find(r)
		route := ""
		if m.Route != nil {
			route = *m.Route
		}
		if route != c.route || m.PathValue("id") != c.id || m.PathExists() != (c.allow != "none") {
			t.Errorf("%s %s: %q, id %q, exists %v", c.method, c.path, route, m.PathValue("id"), m.PathExists())
		}
		if c.allow != "" && c.allow != "none" && m.Allow() != c.allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, m.Allow(), c.allow)
		}
	}
}

// read is a body that was read already.
type read struct{ *strings.Reader }

func (read) Bytes() ([]byte, error) { return []byte("12345"), nil }

func TestReadBody(t *testing.T) {
	for _, body := range []interface{ Read([]byte) (int, error) }{strings.NewReader("12345"), read{strings.NewReader("")}} {
		if text, err := web.ReadBody(body, 5); string(text) != "12345" || err != nil {
			t.Errorf("%T: %q, %v", body, text, err)
		}
	}
	for _, body := range []interface{ Read([]byte) (int, error) }{strings.NewReader("12345"), read{strings.NewReader("")}} {
		var large *http.MaxBytesError
		if _, err := web.ReadBody(body, 4); !errors.As(err, &large) || large.Limit != 4 {
			t.Errorf("%T: %v", body, err)
		}
	}
}

func TestSetDefaults(t *testing.T) {
	type inner struct{ A, B int64 }
	type limits struct {
		N     int
		Wait  time.Duration
		Inner inner
	}
	got := limits{N: 7, Inner: inner{B: 3}}
	web.SetDefaults(&got, limits{1, time.Second, inner{1, 2}})
	if want := (limits{7, time.Second, inner{1, 3}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
