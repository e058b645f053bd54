package calendar

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones under test, wherever the test runs
)

func mustCron(t testing.TB, s string) *Cron {
	t.Helper()
	c, err := ParseCron(s)
	if err != nil {
		t.Fatalf("ParseCron(%q): %v", s, err)
	}
	return c
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// fires returns the next fire times after an instant, in loc, until there are
// none or as many as wanted.
func fires(c *Cron, after time.Time, loc *time.Location, most int) []time.Time {
	var all []time.Time
	for len(all) < most {
		t, ok := c.Next(after, loc)
		if !ok {
			break
		}
		all = append(all, t)
		after = t
	}
	return all
}

func TestCronNext(t *testing.T) {
	// 2020-03-20 is a Friday. The wanted times are those that follow, in UTC.
	const after = "2020-03-20T09:07:30Z"
	for _, tc := range []struct{ expr, want string }{
		// 0.5 §Start Definition and §Schedule Definition.
		{"0 0/5 * * * ?", "2020-03-20T09:10:00 2020-03-20T09:15:00"},
		{"0 0/15 * * * ?", "2020-03-20T09:15:00 2020-03-20T09:30:00 2020-03-20T09:45:00 2020-03-20T10:00:00"},
		{"* * * * *", "2020-03-20T09:08:00 2020-03-20T09:09:00"},
		{"0 * * * *", "2020-03-20T10:00:00 2020-03-20T11:00:00"},
		{"0 */2 * * *", "2020-03-20T10:00:00 2020-03-20T12:00:00"},
		{"0 9 8 * *", "2020-04-08T09:00:00 2020-05-08T09:00:00"},
		// crontab
		{"@hourly", "2020-03-20T10:00:00 2020-03-20T11:00:00"},
		{"@daily", "2020-03-21T00:00:00 2020-03-22T00:00:00"},
		{"@Midnight", "2020-03-21T00:00:00"},
		{"@weekly", "2020-03-22T00:00:00 2020-03-29T00:00:00"},
		{"@monthly", "2020-04-01T00:00:00 2020-05-01T00:00:00"},
		{" @yearly ", "2021-01-01T00:00:00 2022-01-01T00:00:00"},
		{"@annually", "2021-01-01T00:00:00"},
		{"0 0 13 * 5", "2020-03-27T00:00:00 2020-04-03T00:00:00 2020-04-10T00:00:00 2020-04-13T00:00:00"},
		{"0 0 * * 0", "2020-03-22T00:00:00 2020-03-29T00:00:00"},
		{"0 0 * * 7", "2020-03-22T00:00:00 2020-03-29T00:00:00"},
		{"0 0 * * Sun", "2020-03-22T00:00:00"},
		{"0 0 * * 6-7", "2020-03-21T00:00:00 2020-03-22T00:00:00 2020-03-28T00:00:00"},
		{"0 0 * * sat-sun", "2020-03-21T00:00:00 2020-03-22T00:00:00 2020-03-28T00:00:00"},
		{"0 0 * * 1-5", "2020-03-23T00:00:00"},
		{"0 0 * * */3", "2020-03-21T00:00:00 2020-03-22T00:00:00 2020-03-25T00:00:00 2020-03-28T00:00:00"},
		{"0 0 * * 1/2", "2020-03-23T00:00:00 2020-03-25T00:00:00 2020-03-27T00:00:00 2020-03-30T00:00:00"},
		{"0 0 * * 7/2", "2020-03-22T00:00:00 2020-03-29T00:00:00"},
		{"0 0 1 jan,JUL *", "2020-07-01T00:00:00 2021-01-01T00:00:00"},
		{"10-20/5 9 * * *", "2020-03-20T09:10:00 2020-03-20T09:15:00 2020-03-20T09:20:00 2020-03-21T09:10:00"},
		{"50/4 9 * * *", "2020-03-20T09:50:00 2020-03-20T09:54:00 2020-03-20T09:58:00 2020-03-21T09:50:00"},
		{"1,2,8\t9  * *\n*", "2020-03-20T09:08:00 2020-03-21T09:01:00"},
		{"0 0 29 2 *", "2024-02-29T00:00:00 2028-02-29T00:00:00"},
		{"0 0 31 * *", "2020-03-31T00:00:00 2020-05-31T00:00:00 2020-07-31T00:00:00"},
		{"0 0 30 2 *", ""},
		{"0 0 30 2 5", "2021-02-05T00:00:00"},
		// Restricted is everything but *, so that */2 and 1-31 add days.
		{"0 0 */31 * 1", "2020-03-23T00:00:00 2020-03-30T00:00:00 2020-04-01T00:00:00"},
		{"0 0 1-31 * 1", "2020-03-21T00:00:00 2020-03-22T00:00:00"},
		{"0 0 */1 * 1", "2020-03-23T00:00:00 2020-03-30T00:00:00"},
		// Quartz
		{"* * * * * ?", "2020-03-20T09:07:31 2020-03-20T09:07:32"},
		{"*/20 * * ? * *", "2020-03-20T09:07:40 2020-03-20T09:08:00"},
		{"/20 * * ? * *", "2020-03-20T09:07:40 2020-03-20T09:08:00"},
		{"0 0 0 ? * 1", "2020-03-22T00:00:00 2020-03-29T00:00:00"},
		{"0 0 0 * * MON", "2020-03-23T00:00:00 2020-03-30T00:00:00"},
		{"0 0 0 ? * FRI-MON", "2020-03-21T00:00:00 2020-03-22T00:00:00 2020-03-23T00:00:00 2020-03-27T00:00:00"},
		{"0 0 22-2/2 * * ?", "2020-03-20T22:00:00 2020-03-21T00:00:00 2020-03-21T02:00:00 2020-03-21T22:00:00"},
		{"0 0 0 1 NOV-FEB ?", "2020-11-01T00:00:00 2020-12-01T00:00:00 2021-01-01T00:00:00 2021-02-01T00:00:00 2021-11-01T00:00:00"},
		{"0 0 0 L * ?", "2020-03-31T00:00:00 2020-04-30T00:00:00 2020-05-31T00:00:00"},
		{"0 0 0 L 2 ?", "2021-02-28T00:00:00 2022-02-28T00:00:00 2023-02-28T00:00:00 2024-02-29T00:00:00"},
		{"0 0 0 L-3 * ?", "2020-03-28T00:00:00 2020-04-27T00:00:00"},
		{"0 0 0 L-30 * ?", "2020-05-01T00:00:00 2020-07-01T00:00:00"},
		{"0 0 0 LW * ?", "2020-03-31T00:00:00 2020-04-30T00:00:00 2020-05-29T00:00:00"},
		{"0 0 0 l-1w * ?", "2020-03-30T00:00:00 2020-04-29T00:00:00 2020-05-29T00:00:00 2020-06-29T00:00:00"},
		{"0 0 0 15W * ?", "2020-04-15T00:00:00 2020-05-15T00:00:00 2020-06-15T00:00:00 2020-07-15T00:00:00 2020-08-14T00:00:00"},
		{"0 0 0 1W * ?", "2020-04-01T00:00:00 2020-05-01T00:00:00 2020-06-01T00:00:00 2020-07-01T00:00:00 2020-08-03T00:00:00"},
		{"0 0 0 31W * ?", "2020-03-31T00:00:00 2020-05-29T00:00:00"},
		{"0 0 0 1,15W,L * ?", "2020-03-31T00:00:00 2020-04-01T00:00:00 2020-04-15T00:00:00 2020-04-30T00:00:00"},
		{"0 0 0 ? * L", "2020-03-21T00:00:00 2020-03-28T00:00:00"},
		{"0 0 0 ? * 6L", "2020-03-27T00:00:00 2020-04-24T00:00:00 2020-05-29T00:00:00"},
		{"0 0 0 ? * friL", "2020-03-27T00:00:00 2020-04-24T00:00:00"},
		{"0 0 0 ? * 6#3", "2020-04-17T00:00:00 2020-05-15T00:00:00"},
		{"0 0 10 ? * FRI#3", "2020-03-20T10:00:00 2020-04-17T10:00:00"},
		{"0 0 0 ? * 1#5", "2020-03-29T00:00:00 2020-05-31T00:00:00"},
		{"0 0 0 ? * 2#1,6L", "2020-03-27T00:00:00 2020-04-06T00:00:00"},
		{"0 0 0 1 1 ? *", "2021-01-01T00:00:00"},
		{"0 0 0 1 1 ? 2019-2022", "2021-01-01T00:00:00 2022-01-01T00:00:00"},
		{"0 0 0 1 1 ? 2025/5", "2025-01-01T00:00:00 2030-01-01T00:00:00"},
		{"0 0 0 1 1 ? 2019", ""},
		{"0 0 0 29 2 ? 2021,2022,2023", ""},
		// Five Fridays in a February, across the missing leap day of 2100.
		{"0 0 0 ? 2 6#5", "2036-02-29T00:00:00 2064-02-29T00:00:00 2092-02-29T00:00:00 2104-02-29T00:00:00"},
	} {
		t.Run(tc.expr, func(t *testing.T) {
			c := mustCron(t, tc.expr)
			want := strings.Fields(tc.want)
			got := fires(c, at(t, after), time.UTC, max(1, len(want)))
			if len(got) != len(want) {
				t.Fatalf("fires at %v, want %v", got, want)
			}
			for i := range got {
				if s := got[i].Format("2006-01-02T15:04:05"); s != want[i] {
					t.Errorf("fire %d at %s, want %s", i, s, want[i])
				}
			}
		})
	}
}

func TestCronAcrossClockChanges(t *testing.T) {
	for _, tc := range []struct{ name, zone, expr, after, want string }{
		{"skipped fires when the clock resumes", "America/New_York", "30 2 * * *", "2021-03-13T12:00:00Z", "2021-03-14T07:00:00Z 2021-03-15T06:30:00Z"},
		{"all skipped fire once", "America/New_York", "*/15 2 * * *", "2021-03-13T12:00:00Z", "2021-03-14T07:00:00Z 2021-03-15T06:00:00Z"},
		{"skipped and due at the change fire once", "America/New_York", "0,30 2,3 * * *", "2021-03-14T06:30:00Z", "2021-03-14T07:00:00Z 2021-03-14T07:30:00Z 2021-03-15T06:00:00Z"},
		{"minutes go on over the gap", "America/New_York", "*/30 * * * *", "2021-03-14T06:00:00Z", "2021-03-14T06:30:00Z 2021-03-14T07:00:00Z 2021-03-14T07:30:00Z"},
		{"repeated fires the first time", "America/New_York", "30 1 * * *", "2021-11-06T12:00:00Z", "2021-11-07T05:30:00Z 2021-11-08T06:30:00Z"},
		{"not again in the repeated hour", "America/New_York", "30 1 * * *", "2021-11-07T06:15:00Z", "2021-11-08T06:30:00Z"},
		{"every minute rests in the repeated hour", "America/New_York", "* * * * *", "2021-11-07T05:58:00Z", "2021-11-07T05:59:00Z 2021-11-07T07:00:00Z"},
		{"starting in the repeated hour", "America/New_York", "* * * * *", "2021-11-07T06:20:30Z", "2021-11-07T07:00:00Z"},
		{"Berlin skips 2 to 3", "Europe/Berlin", "0 30 2 * * ?", "2022-03-26T12:00:00Z", "2022-03-27T01:00:00Z 2022-03-28T00:30:00Z"},
		{"Berlin repeats 2 to 3", "Europe/Berlin", "0 30 2 * * ?", "2022-10-29T12:00:00Z", "2022-10-30T00:30:00Z 2022-10-31T01:30:00Z"},
		{"Lord Howe skips half an hour", "Australia/Lord_Howe", "15 2 * * *", "2021-10-02T00:00:00Z", "2021-10-02T15:30:00Z 2021-10-03T15:15:00Z"},
		{"Lord Howe repeats half an hour", "Australia/Lord_Howe", "45 1 * * *", "2021-04-03T00:00:00Z", "2021-04-03T14:45:00Z 2021-04-04T15:15:00Z"},
		{"Kolkata never changes", "Asia/Kolkata", "0 9 * * *", "2021-03-13T12:00:00Z", "2021-03-14T03:30:00Z 2021-03-15T03:30:00Z"},
		{"Samoa skipped a whole day", "Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z 2012-12-29T22:00:00Z"},
		{"rules far in the future", "Europe/Berlin", "30 2 * * *", "2090-03-25T12:00:00Z", "2090-03-26T01:00:00Z 2090-03-27T00:30:00Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			loc := zone(t, tc.zone)
			want := strings.Fields(tc.want)
			got := fires(mustCron(t, tc.expr), at(t, tc.after), loc, len(want))
			for i := range want {
				if i >= len(got) || !got[i].Equal(at(t, want[i])) || got[i].Location() != loc {
					t.Fatalf("fires at %v, want %v", got, want)
				}
			}
		})
	}
}

func TestCronNextAtTheEdges(t *testing.T) {
	daily := mustCron(t, "0 0 * * *")
	if got, ok := daily.Next(at(t, "9999-12-30T12:00:00Z"), nil); !ok || !got.Equal(at(t, "9999-12-31T00:00:00Z")) {
		t.Errorf("Next = %v, %v", got, ok)
	}
	for _, after := range []time.Time{latest, time.Unix(1<<60, 0)} {
		if got, ok := daily.Next(after, time.UTC); ok {
			t.Errorf("Next(%v) = %v, want none", after, got)
		}
	}
	for _, after := range []time.Time{{}, time.Unix(-1<<60, 0)} {
		for _, loc := range []*time.Location{time.UTC, zone(t, "America/New_York"), zone(t, "Asia/Kolkata")} {
			if got, ok := daily.Next(after, loc); !ok || !got.After(after) {
				t.Errorf("Next(%v) = %v, %v", after, got, ok)
			}
		}
	}
	// Strictly after, to the nanosecond.
	noon := at(t, "2020-03-20T12:00:00Z")
	c := mustCron(t, "0 12 * * *")
	if got, _ := c.Next(noon.Add(-1), time.UTC); !got.Equal(noon) {
		t.Errorf("a nanosecond before noon: %v", got)
	}
	for _, after := range []time.Time{noon, noon.Add(1)} {
		if got, _ := c.Next(after, time.UTC); !got.Equal(noon.AddDate(0, 0, 1)) {
			t.Errorf("after %v: %v", after, got)
		}
	}
}

func BenchmarkCronNext(b *testing.B) {
	after := time.Date(2020, 3, 20, 9, 7, 30, 0, time.UTC)
	loc := zone(b, "America/New_York")
	for _, expr := range []string{"* * * * *", "0 9 8 * *", "0 0 0 ? 2 6#5", "0 0 30 2 *"} {
		c := mustCron(b, expr)
		b.Run(expr, func(b *testing.B) {
			for b.Loop() {
				c.Next(after, loc)
			}
		})
	}
}
