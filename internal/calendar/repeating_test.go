package calendar

import (
	"testing"
	"time"
)

func TestParseRepeating(t *testing.T) {
	at := time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)
	for in, want := range map[string]Repeating{
		"R/PT15M":                         {Every: Duration{Nanos: 15 * 60e9}},
		"R/2026-01-31T12:00:00+01:00/P1M": {From: at, Every: Duration{Months: 1}},
		"R/P2DT1H/2026-01-31T11:00:00Z":   {Until: at, Every: Duration{Days: 2, Nanos: 3600e9}, Back: true},
	} {
		if got, err := ParseRepeating(in); err != nil || got != want {
			t.Errorf("ParseRepeating(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, c := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "starts with R/"},
		{"PT1H", 0, "starts with R/"},
		{"R5/PT1H", 1, "a number of times is not supported"},
		{"R-1/PT1H", 1, "the slash after R"},
		{"R", 1, "the slash after R"},
		{"R/", 2, "the interval is empty"},
		{"R/2026-01-31T11:00:00Z/2026-02-28T11:00:00Z", 2, "does not say how often it repeats"},
		{"R/PT0S", 2, "no length"},
		{"R/2026-01-31T11:00:00Z/PT1", 26, ""},
		{"R/R/PT1H", 2, "not a window"},
	} {
		_, err := ParseRepeating(c.in)
		wantSyntaxError(t, err, c.offset, c.what)
	}
}

// FuzzParseRepeating: what is read has a length, and one of the three forms.
func FuzzParseRepeating(f *testing.F) {
	f.Add("R/PT1S")
	f.Add("R/2020-03-20T13:00:00Z/PT6H")
	f.Add("R/PT6H/2020-03-20T13:00:00Z")
	f.Add("R5/PT1S")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRepeating(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if r.Every.IsZero() || r.Back != !r.Until.IsZero() || r.Back && !r.From.IsZero() {
			t.Errorf("%q: %+v", s, r)
		}
	})
}
