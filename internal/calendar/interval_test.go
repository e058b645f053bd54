package calendar

import (
	"testing"
	"time"
)

func TestParseInstant(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"2020-03-20T13:00:00Z", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00:00+02:00", "2020-03-20T11:00:00Z"},
		{"2020-03-20T13:00:00-0530", "2020-03-20T18:30:00Z"},
		{"2020-03-20T13:00:00+02", "2020-03-20T11:00:00Z"},
		{"2020-03-20T13:00:00-00:00", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00:00", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00Z", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00+0100", "2020-03-20T12:00:00Z"},
		{"20200320T130000Z", "2020-03-20T13:00:00Z"},
		{"20200320T130001", "2020-03-20T13:00:01Z"},
		{"20200320T1300", "2020-03-20T13:00:00Z"},
		{"20200320T130000+0200", "2020-03-20T11:00:00Z"},
		{"2020-03-20T130000Z", "2020-03-20T13:00:00Z"},
		{"2020-03-20T13:00:00.25Z", "2020-03-20T13:00:00.25Z"},
		{"2020-03-20T13:00:00,1234567899Z", "2020-03-20T13:00:00.123456789Z"},
		{"2020-02-29T23:59:59Z", "2020-02-29T23:59:59Z"},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
	} {
		got, err := ParseInstant(tc.in)
		if err != nil || got.Format(time.RFC3339Nano) != tc.want {
			t.Errorf("ParseInstant(%q) = %v, %v; want %s", tc.in, got, err, tc.want)
		}
	}
}

func TestParseInstantErrors(t *testing.T) {
	for _, tc := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "empty"},
		{"tomorrow", 0, "year needs 4 digits"},
		{"2020", 4, "month needs 2 digits"},
		{"2020-03-20", 10, "time of day is missing"},
		{"2020-03-20t13:00:00Z", 10, "lower case"},
		{"2020-03-20 13:00:00Z", 10, "a T is expected"},
		{"2020-03-20T13:00:00z", 19, "lower case"},
		{"2020-13-20T13:00:00Z", 5, "month 13 is outside 01-12"},
		{"2021-02-29T13:00:00Z", 8, "day 29 is outside 01-28"},
		{"2020-0320T13:00:00Z", 7, "hyphen"},
		{"2020-03-20T24:00:00Z", 11, "hour 24 is outside 00-23"},
		{"2020-03-20T13:60:00Z", 14, "minute 60"},
		{"2020-03-20T13:00:60Z", 17, "second 60"},
		{"2020-03-20T13Z", 13, "minute needs 2 digits"},
		{"2020-03-20T13:00:0Z", 18, "second needs 2 digits"},
		{"2020-03-20T13:00:00.Z", 20, "digits are expected"},
		{"2020-03-20T13:0000Z", 16, "unexpected"},
		{"2020-03-20T13:00:00+2:00", 21, "zone's hour needs 2 digits"},
		{"2020-03-20T13:00:00+24:00", 20, "zone's hour 24"},
		{"2020-03-20T13:00:00+02:", 23, "zone's minute needs 2 digits"},
		{"2020-03-20T13:00:00Zulu", 20, "unexpected"},
		{"0000-01-01T00:00:00+01:00", 0, "outside the years"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			_, err := ParseInstant(tc.in)
			wantSyntaxError(t, err, tc.offset, tc.what)
		})
	}
}

func TestIntervalWindow(t *testing.T) {
	const deployed = "2020-01-31T12:00:00Z"
	for _, tc := range []struct {
		in       string
		form     IntervalForm
		from, to string
	}{
		{"2020-03-20T09:00:00Z/2020-03-20T15:00:00Z", StartEnd, "2020-03-20T09:00:00Z", "2020-03-20T15:00:00Z"},
		{"2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", StartEnd, "2020-03-20T13:00:00Z", "2021-05-11T15:30:00Z"},
		{"2020-03-20T13:00:00Z/P1Y2M10DT2H30M", StartDuration, "2020-03-20T13:00:00Z", "2021-05-30T15:30:00Z"},
		{"P1Y2M10DT2H30M/2020-05-11T15:30:00Z", DurationEnd, "2019-03-01T13:00:00Z", "2020-05-11T15:30:00Z"},
		{"P1Y2M10DT2H30M", DurationOnly, deployed, "2021-04-10T14:30:00Z"},
		{"P1M", DurationOnly, deployed, "2020-02-29T12:00:00Z"},
		{"20200320T0900+0100/PT6H", StartDuration, "2020-03-20T08:00:00Z", "2020-03-20T14:00:00Z"},
		{"2020-03-20T09:00/2020-03-20T15:00", StartEnd, "2020-03-20T09:00:00Z", "2020-03-20T15:00:00Z"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			iv, err := ParseInterval(tc.in)
			if err != nil || iv.Form != tc.form {
				t.Fatalf("ParseInterval = %+v, %v; want form %d", iv, err, tc.form)
			}
			from, to := iv.Window(at(t, deployed))
			if from.Format(time.RFC3339Nano) != tc.from || to.Format(time.RFC3339Nano) != tc.to {
				t.Errorf("window [%v, %v), want [%s, %s)", from, to, tc.from, tc.to)
			}
			for _, probe := range []struct {
				t  time.Time
				in bool
			}{{from.Add(-1), false}, {from, true}, {to.Add(-1), true}, {to, false}} {
				if iv.Contains(probe.t, at(t, deployed)) != probe.in {
					t.Errorf("Contains(%v) is not %v", probe.t, probe.in)
				}
			}
		})
	}
}

func TestParseIntervalErrors(t *testing.T) {
	for _, tc := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "empty"},
		{"/", 0, "nothing before"},
		{"/PT1H", 0, "nothing before"},
		{"PT1H/", 5, "nothing after"},
		{"2020-03-20T09:00:00Z", 20, "its end is missing"},
		{"PT1H/PT2H", 5, "both sides"},
		{"R5/PT1H", 0, "repeating"},
		{"2020-03-20T09:00:00Z/PT1H/PT2H", 25, "second slash"},
		{"2020-03-20T09:00:00Z/2020-03-20T09:00:00Z", 21, "does not end after"},
		{"2020-03-20T09:00:00Z/2020-03-20T10:00:00+02:00", 21, "does not end after"},
		{"2020-03-20T09:00:00Z/P1H", 23, "belong after a T"},
		{"2020-03-20T09:00:00Z/pt1h", 21, "upper case"},
		{"2020-03-20T09:00:00Z/-PT1H", 21, "negative"},
		{"2020-03-20T09:00:00Z/15:00", 23, "year needs 4 digits"},
		{"P1Q/2020-03-20T09:00:00Z", 2, "not a unit"},
		{"PT1H/2020-03-20T25:00:00Z", 16, "hour 25"},
		{"2020-03-20T25:00:00Z/PT1H", 11, "hour 25"},
		{"PT0S", 0, "no length"},
		{"2020-03-20T09:00:00Z/P0D", 21, "no length"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			_, err := ParseInterval(tc.in)
			wantSyntaxError(t, err, tc.offset, tc.what)
		})
	}
}

func TestParseRepeat(t *testing.T) {
	quarter := Duration{Nanos: 15 * nanosPerMinute}
	for in, want := range map[string]Repeat{
		"R5/PT15M":          {5, quarter},
		"R/PT15M":           {-1, quarter},
		"R0/PT15M":          {0, quarter},
		"R1/P1M":            {1, Duration{Months: 1}},
		"R2147483647/PT15M": {2147483647, quarter},
	} {
		if got, err := ParseRepeat(in); err != nil || got != want {
			t.Errorf("ParseRepeat(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, tc := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "starts with R"},
		{"PT15M", 0, "R5/PT15M is 5 times"},
		{"r5/PT15M", 0, "starts with R"},
		{"R", 1, "missing"},
		{"R5", 2, "missing"},
		{"R5/", 3, "empty"},
		{"R5PT15M", 2, "not a number of times"},
		{"R-1/PT15M", 1, "not a number of times"},
		{"R2147483648/PT15M", 1, "more than"},
		{"R99999999999999999999/PT15M", 1, "more than"},
		{"R5/PT15X", 7, "not a unit"},
		{"R5/2020-03-20T09:00:00Z/PT15M", 23, "not supported"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			_, err := ParseRepeat(tc.in)
			wantSyntaxError(t, err, tc.offset, tc.what)
		})
	}
}

func FuzzParseInstant(f *testing.F) {
	for _, s := range []string{"2020-03-20T13:00:00Z", "20200320T1300+0200", "2020-03-20T13:00:00.5", "2020-03-20"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseInstant(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			if want, err := time.Parse(time.RFC3339, s); err == nil && !want.Before(earliest) && !want.After(latest) && upper(s) == s {
				t.Fatalf("%q is RFC 3339 for %v but refused", s, want)
			}
			return
		}
		if want, err := time.Parse(time.RFC3339, s); err == nil && !got.Equal(want) {
			t.Fatalf("%q is %v, want %v", s, got, want)
		}
		if again, err := ParseInstant(got.Format(time.RFC3339Nano)); err != nil || again != got {
			t.Fatalf("%q is %v, which parses to %v, %v", s, got, again, err)
		}
	})
}

func FuzzParseInterval(f *testing.F) {
	for _, s := range []string{
		"2020-03-20T09:00:00Z/2020-03-20T15:00:00Z", "2020-03-20T13:00:00Z/P1Y2M10DT2H30M",
		"P1Y2M10DT2H30M/2020-05-11T15:30:00Z", "P1Y2M10DT2H30M", "R5/PT1H", "/", "PT1H/PT1H",
	} {
		f.Add(s)
	}
	deployed := time.Date(2020, 1, 31, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		iv, err := ParseInterval(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		from, to := iv.Window(deployed)
		if from.After(to) || iv.Contains(to, deployed) {
			t.Fatalf("%q has the window [%v, %v)", s, from, to)
		}
	})
}

func FuzzParseRepeat(f *testing.F) {
	for _, s := range []string{"R5/PT15M", "R/PT15M", "R", "R0/P1M", "R5/2020-03-20T09:00:00Z/PT15M"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRepeat(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if r.Times < -1 {
			t.Fatalf("%q repeats %d times", s, r.Times)
		}
	})
}
