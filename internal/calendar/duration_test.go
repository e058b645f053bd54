package calendar

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// wantSyntaxError checks the offset of an error, and that it speaks of what.
func wantSyntaxError(t *testing.T, err error, offset int, what string) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error %v (%T), want a *SyntaxError", err, err)
	}
	if syntax.Offset != offset {
		t.Errorf("offset %d, want %d: %v", syntax.Offset, offset, err)
	}
	if !strings.Contains(err.Error(), what) {
		t.Errorf("error %q does not mention %q", err, what)
	}
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func TestParseDuration(t *testing.T) {
	const second, minute, hour = nanosPerSecond, nanosPerMinute, nanosPerHour
	for _, tc := range []struct {
		in, canonical string
		want          Duration
	}{
		{"PT15M", "PT15M", Duration{Nanos: 15 * minute}},
		{"P2DT3H4M", "P2DT3H4M", Duration{Days: 2, Nanos: 3*hour + 4*minute}},
		{"P1Y2M10DT2H30M", "P1Y2M10DT2H30M", Duration{14, 10, 2*hour + 30*minute}},
		{"PT0.001S", "PT0.001S", Duration{Nanos: 1_000_000}},
		{"PT1H", "PT1H", Duration{Nanos: hour}},
		{"PT3S", "PT3S", Duration{Nanos: 3 * second}},
		{"P1M", "P1M", Duration{Months: 1}},
		{"PT1M", "PT1M", Duration{Nanos: minute}},
		{"P14M", "P1Y2M", Duration{Months: 14}},
		{"P2W", "P14D", Duration{Days: 14}},
		{"P1Y1W1D", "P1Y8D", Duration{Months: 12, Days: 8}},
		{"P0D", "PT0S", Duration{}},
		{"PT0S", "PT0S", Duration{}},
		{"PT90M", "PT1H30M", Duration{Nanos: 90 * minute}},
		{"PT36H", "PT36H", Duration{Nanos: 36 * hour}},
		{"PT1,5S", "PT1.5S", Duration{Nanos: 1_500_000_000}},
		{"PT0.5H", "PT30M", Duration{Nanos: 30 * minute}},
		{"PT1H0.25M", "PT1H15S", Duration{Nanos: hour + 15*second}},
		{"P1.5D", "P1DT12H", Duration{Days: 1, Nanos: 12 * hour}},
		{"P1.5W", "P7DT84H", Duration{Days: 7, Nanos: 84 * hour}},
		{"P0.5Y", "P6M", Duration{Months: 6}},
		{"P1,25Y", "P1Y3M", Duration{Months: 15}},
		{"P2.0M", "P2M", Duration{Months: 2}},
		{"PT0.000000001S", "PT0.000000001S", Duration{Nanos: 1}},
		{"PT0.30000000000000004S", "PT0.3S", Duration{Nanos: 300_000_000}},
		{"PT0.9999999999S", "PT0.999999999S", Duration{Nanos: 999_999_999}},
		{"PT0.999999999999999999999H", "PT59M59.999999999S", Duration{Nanos: hour - 1}},
		{"P0009D", "P9D", Duration{Days: 9}},
		{"PT9223372036.854775807S", "PT2562047H47M16.854775807S", Duration{Nanos: math.MaxInt64}},
		{"P9223372036854775807M", "P768614336404564650Y7M", Duration{Months: math.MaxInt64}},
	} {
		got, err := ParseDuration(tc.in)
		if err != nil || got != tc.want {
			t.Errorf("ParseDuration(%q) = %+v, %v; want %+v", tc.in, got, err, tc.want)
		}
		if got.String() != tc.canonical {
			t.Errorf("ParseDuration(%q).String() = %q, want %q", tc.in, got, tc.canonical)
		}
	}
}

func TestParseDurationErrors(t *testing.T) {
	for _, tc := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "PT15M is 15 minutes"},
		{"P", 1, "nothing follows the P"},
		{"PT", 2, "nothing follows the T"},
		{"P1DT", 4, "nothing follows the T"},
		{"15", 0, "PT15M is 15 minutes"},
		{"15m", 0, "does not start with P"},
		{" PT1M", 0, "does not start with P"},
		{"+P1D", 0, "does not start with P"},
		{"PT1M ", 4, "a number is expected"},
		{"PT1Mx", 4, "a number is expected"},
		{"-PT1M", 0, "negative"},
		{"P-1D", 1, "negative"},
		{"P1DT-2H", 4, "negative"},
		{"pt15m", 0, `upper case: "PT15M"`},
		{"PT15m", 4, `upper case: "PT15M"`},
		{"Pt15M", 1, `upper case: "PT15M"`},
		{"PT15", 4, "no unit"},
		{"P1T2H", 2, "no unit"},
		{"P1DT2HT3M", 6, "a second T"},
		{"PTT3M", 2, "a second T"},
		{"P1D1M", 4, "months come before days"},
		{"P1D1Y", 4, "years come before days"},
		{"P1D1W", 4, "weeks come before days"},
		{"PT1S1M", 5, "minutes come before seconds"},
		{"P1D2D", 4, "days are given twice"},
		{"P5H", 2, "PT1H"},
		{"P5S", 2, "belong after a T"},
		{"PT5D", 3, "days belong before the T"},
		{"P5X", 2, "not a unit"},
		{"P1.5DT1H", 1, "last component"},
		{"PT1.5H30M", 2, "last component"},
		{"PT.5S", 2, "a number is expected"},
		{"PT5.S", 4, "digits are expected"},
		{"PT5.", 4, "digits are expected"},
		{"P1.5M", 1, "whole months"},
		{"P1Y1.5M", 3, "whole months"},
		{"P0.3Y", 1, "whole months"},
		{"P0.08333333333333333333Y", 1, "whole months"},
		{"P0.5000000000000000001Y", 1, "whole months"},
		{"PT9223372036.854775808S", 2, "more than a duration can hold"},
		{"PT2562048H", 2, "more than a duration can hold"},
		{"PT2562047H48M", 10, "too long"},
		{"P768614336404564651Y", 1, "more than a duration can hold"},
		{"P99999999999999999999D", 1, "more than a duration can hold"},
		{"P1Y9223372036854775807M", 3, "too long"},
		{"P\xff", 1, "a number is expected"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			d, err := ParseDuration(tc.in)
			if !d.IsZero() {
				t.Errorf("a value besides the error: %+v", d)
			}
			wantSyntaxError(t, err, tc.offset, tc.what)
		})
	}
}

func TestDurationArithmetic(t *testing.T) {
	for _, tc := range []struct{ from, duration, plus, minus string }{
		{"2021-01-31T10:00:00Z", "P1M", "2021-02-28T10:00:00Z", "2020-12-31T10:00:00Z"},
		{"2020-01-31T10:00:00Z", "P1M", "2020-02-29T10:00:00Z", "2019-12-31T10:00:00Z"},
		{"2021-03-31T00:00:00Z", "P1M", "2021-04-30T00:00:00Z", "2021-02-28T00:00:00Z"},
		{"2020-02-29T00:00:00Z", "P1Y", "2021-02-28T00:00:00Z", "2019-02-28T00:00:00Z"},
		{"2020-02-29T00:00:00Z", "P4Y", "2024-02-29T00:00:00Z", "2016-02-29T00:00:00Z"},
		// Months first: Jan 31 + 1 month is Feb 28, + 1 day is Mar 1.
		{"2021-01-31T00:00:00Z", "P1M1D", "2021-03-01T00:00:00Z", "2020-12-30T00:00:00Z"},
		{"2020-03-20T13:00:00Z", "P1Y2M10DT2H30M", "2021-05-30T15:30:00Z", "2019-01-10T10:30:00Z"},
		{"2020-12-31T23:59:59.5Z", "PT0.5S", "2021-01-01T00:00:00Z", "2020-12-31T23:59:59Z"},
		{"2020-03-20T13:00:00+02:00", "P1D", "2020-03-21T11:00:00Z", "2020-03-19T11:00:00Z"},
		// A month in UTC, although it is already February in the zone of the input.
		{"2021-02-01T00:30:00+01:00", "P1M", "2021-02-28T23:30:00Z", "2020-12-31T23:30:00Z"},
		{"2021-01-01T00:00:00Z", "P9223372036854775807M", "9999-12-31T23:59:59.999999999Z", "0000-01-01T00:00:00Z"},
		{"2021-01-01T00:00:00Z", "P9223372036854775807D", "9999-12-31T23:59:59.999999999Z", "0000-01-01T00:00:00Z"},
		{"9999-12-31T23:00:00Z", "PT2562047H", "9999-12-31T23:59:59.999999999Z", "9707-09-22T00:00:00Z"},
		{"2021-01-01T00:00:00Z", "PT0S", "2021-01-01T00:00:00Z", "2021-01-01T00:00:00Z"},
	} {
		d, err := ParseDuration(tc.duration)
		if err != nil {
			t.Fatal(err)
		}
		from := at(t, tc.from)
		if got := d.AddTo(from).Format(time.RFC3339Nano); got != tc.plus {
			t.Errorf("%s + %s = %s, want %s", tc.from, d, got, tc.plus)
		}
		if got := d.SubFrom(from).Format(time.RFC3339Nano); got != tc.minus {
			t.Errorf("%s - %s = %s, want %s", tc.from, d, got, tc.minus)
		}
	}
}

func TestDurationTimesAndPlus(t *testing.T) {
	d := Duration{Months: 2, Days: 3, Nanos: 5}
	if got, ok := d.Times(7); !ok || got != (Duration{14, 21, 35}) {
		t.Errorf("Times(7) = %+v, %v", got, ok)
	}
	if got, ok := d.Times(0); !ok || !got.IsZero() {
		t.Errorf("Times(0) = %+v, %v", got, ok)
	}
	if got, ok := d.Plus(Duration{1, 1, 1}); !ok || got != (Duration{3, 4, 6}) {
		t.Errorf("Plus = %+v, %v", got, ok)
	}
	for _, unit := range []Duration{{Months: 1}, {Days: 1}, {Nanos: 1}} {
		most, ok := unit.Times(math.MaxInt64)
		if !ok {
			t.Errorf("%+v taken MaxInt64 times overflows", unit)
		}
		if got, ok := most.Plus(unit); ok {
			t.Errorf("%+v + %+v = %+v, want overflow", most, unit, got)
		}
		if got, ok := most.Times(2); ok {
			t.Errorf("%+v twice = %+v, want overflow", most, got)
		}
		if got, ok := unit.Times(-1); ok {
			t.Errorf("%+v × -1 = %+v, want a refusal", unit, got)
		}
	}
}

func genDuration() *rapid.Generator[Duration] {
	return rapid.Custom(func(t *rapid.T) Duration {
		part := func(name string) int64 {
			return rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, math.MaxInt64)).Draw(t, name)
		}
		return Duration{part("months"), part("days"), part("nanos")}
	})
}

func TestDurationStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDuration().Draw(t, "d")
		got, err := ParseDuration(d.String())
		if err != nil || got != d {
			t.Fatalf("%+v prints as %s, which parses to %+v, %v", d, d, got, err)
		}
	})
}

// Not that a later instant stays later: Jan 29 23:00 and Jan 30 10:00 both come
// to the last day of February, each at its own time of day.
func TestArithmeticKeepsDirectionAndRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDuration().Draw(t, "d")
		from := time.Unix(rapid.Int64Range(earliest.Unix(), latest.Unix()).Draw(t, "from"), 0)
		later, sooner := d.AddTo(from), d.SubFrom(from)
		if later.Before(from) || later.After(latest) || sooner.After(from) || sooner.Before(earliest) {
			t.Fatalf("%v ± %s = %v, %v", from, d, later, sooner)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"PT15M", "P1Y2M10DT2H30M", "P1.5W", "PT0,001S", "P0.5Y", "P", "PT", "-P1D", "p1d", "P1D1M"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if d.Months < 0 || d.Days < 0 || d.Nanos < 0 {
			t.Fatalf("%q parses to the negative %+v", s, d)
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d {
			t.Fatalf("%q parses to %+v, its String %s to %+v, %v", s, d, d, again, err)
		}
	})
}

func checkSyntaxError(t *testing.T, s string, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("%q: error of type %T", s, err)
	}
	if syntax.Offset < 0 || syntax.Offset > len(s) || syntax.Msg == "" {
		t.Fatalf("%q: %+v", s, syntax)
	}
}
