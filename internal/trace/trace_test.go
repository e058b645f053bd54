package trace

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, want := range map[string]string{
		"00-" + id + "-" + span + "-01":          "00-" + id + "-" + span + "-01",
		" 00-" + id + "-" + span + "-00 ":        "00-" + id + "-" + span + "-00",
		"00-" + id + "-" + span + "-ff":          "00-" + id + "-" + span + "-01", // of the flags only one is known
		"cc-" + id + "-" + span + "-01-what-not": "00-" + id + "-" + span + "-01",
	} {
		if c, ok := Parse(header); !ok || c.String() != want {
			t.Errorf("%q: %s %t", header, c, ok)
		}
	}
	for _, bad := range []string{
		"", "00", "00-" + id + "-" + span, "00-" + id + "-" + span + "-01-more", "ff-" + id + "-" + span + "-01", "00-00000000000000000000000000000000-" + span + "-01",
		"00-" + id + "-0000000000000000-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01", "00-" + id + "-" + span + "-0g", "0-" + id + "-" + span + "-01", "zz-" + id + "-" + span + "-01",
	} {
		if c, ok := Parse(bad); ok {
			t.Errorf("%q is taken as %s", bad, c)
		}
	}
}

// TestBegin: the ratio is met, and a trace that is recorded with one ratio is with every greater one.
func TestBegin(t *testing.T) {
	const n = 10_000
	counts := map[float64]int{}
	for i := range n {
		before := false
		for _, ratio := range []float64{0, 0.1, 0.5, 1} {
			c := Begin(fmt.Sprint(i), ratio)
			if c.Sampled() {
				counts[ratio]++
			}
			if before && !c.Sampled() {
				t.Fatalf("trace %d is not recorded with the ratio %v, but with a smaller one", i, ratio)
			}
			before = c.Sampled()
		}
	}
	if counts[0] != 0 || counts[1] != n || counts[0.1] < n/20 || counts[0.1] > n/5 || counts[0.5] < n*4/10 || counts[0.5] > n*6/10 {
		t.Errorf("recorded: %v", counts)
	}
}

func TestSpanOf(t *testing.T) {
	if SpanOf("a", "bc") == SpanOf("ab", "c") || SpanOf("a") == SpanOf("b") {
		t.Error("ids do not follow from the parts")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, header string) {
		c, ok := Parse(header)
		if again, same := Parse(c.String()); ok && (!same || again != c) {
			t.Errorf("%q is %s, and that %s", header, c, again)
		}
	})
}
