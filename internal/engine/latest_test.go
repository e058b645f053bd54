package engine

import (
	"errors"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	// By precedence, as the example of the standard has it; what is none comes first.
	order := []string{"", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.9.0", "1.10.0", "2.0.0"}
	for i, a := range order {
		for j, b := range order {
			got := compareVersions(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
	for _, pair := range [][2]string{{"1.0.0+a", "1.0.0+b"}, {"latest", "1.0"}} {
		if got := compareVersions(pair[0], pair[1]); got != 0 {
			t.Errorf("%v: %d", pair, got)
		}
	}
}

// The latest version is the highest, whenever it is deployed.
func TestFindLatest(t *testing.T) {
	h := newHarness(t, nil)
	var missing *NotFoundError
	if _, err := h.findLatest(t.Context(), "w", ""); !errors.As(err, &missing) {
		t.Errorf("before there is one: %v", err)
	}
	for _, c := range []struct{ version, want string }{
		{"1.9.0", "1.9.0"}, {"1.10.0", "1.10.0"}, {"1.2.0", "1.10.0"}, {"2.0.0-rc.1", "2.0.0-rc.1"}, {"2.0.0", "2.0.0"},
	} {
		p := build("w").main()
		p.Version = c.version
		h.deploy(p)
		for range 2 { // as known, too
			if d, err := h.findLatest(t.Context(), "w", ""); err != nil || d.row.Version != c.want {
				t.Errorf("after %s: %+v %v, want %s", c.version, d, err, c.want)
			}
		}
	}
}
