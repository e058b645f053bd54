package calendar

import (
	"strings"
	"testing"
	"time"
)

func TestParseCronErrors(t *testing.T) {
	for _, tc := range []struct {
		in     string
		offset int
		what   string
	}{
		{"", 0, "this one has 0"},
		{"  ", 2, "this one has 0"},
		{"* * * *", 7, "this one has 4"},
		{"* * * * * * * *", 14, "this one has 8"},
		{"60 * * * *", 0, `minute "60": out of range; allowed: 0-59 (at`},
		{"* 24 * * *", 2, `hour "24": out of range; allowed: 0-23 (at`},
		{"* * 0 * *", 4, `day of month "0": out of range; allowed: 1-31 (at`},
		{"* * * 13 *", 6, `month "13": out of range; allowed: 1-12 or JAN-DEC (at`},
		{"* * * * 8", 8, `day of week "8": out of range; allowed: 0-7 or SUN-SAT; 0 and 7 are Sunday (at`},
		{"99999999999999999999 * * * *", 0, "out of range"},
		{"1,2,x * * * *", 4, `minute "x": not a value`},
		{"1,,2 * * * *", 2, "empty"},
		{"1, * * * *", 2, "empty"},
		{"-5 * * * *", 0, "a value is missing"},
		{"5- * * * *", 2, "a value is missing"},
		{"5-x * * * *", 2, `"x"`},
		{"5-10-15 * * * *", 2, `"10-15"`},
		{"5-61 * * * *", 2, `"61"`},
		{"+5 * * * *", 0, "not a value"},
		{"* 22-2 * * *", 2, "split it: 22-23,0-2"},
		{"* * * * FRI-MON", 8, "split it: 5-7,0-1"},
		{"*/0 * * * *", 2, `minute "0": the step is outside 1-60`},
		{"*/61 * * * *", 2, "the step is outside 1-60"},
		{"*/ * * * *", 2, "a step is a number"},
		{"*/+5 * * * *", 2, "a step is a number"},
		{"*/5/5 * * * *", 2, "a step is a number"},
		{"/5 * * * *", 0, "a value is missing"},
		{"** * * * *", 0, "not a value"},
		{"*-5 * * * *", 0, "not a value"},
		{"* * * MOM *", 6, "JAN-DEC"},
		{"* * * * MONDAY", 8, "SUN-SAT"},
		{"MON * * * *", 0, "not a value"},
		{"* * ? * *", 4, "in 5 fields write *"},
		{"* * L * *", 4, "belong to Quartz"},
		{"* * 15W * *", 4, "belong to Quartz"},
		{"* * * * 6#3", 8, "belong to Quartz"},
		{"@reboot", 0, "not a cron macro"},
		{" @every 5m", 1, "@hourly"},
		{"@daily *", 0, "not a cron macro"},
		{"CRON_TZ=UTC 0 9 * * *", 0, "time zone"},
		{"60 * * * * ?", 0, `second "60": out of range; allowed: 0-59 (at`},
		{"? * * * * ?", 0, "not a value"},
		{"0 0 0 ? * 0", 10, "1 is Sunday"},
		{"0 0 0 ? * 8", 10, "allowed: 1-7"},
		{"0 0 0 ? * ?", 10, "cannot both be ?"},
		{"0 0 0 13 * 6", 11, "write ? for the one"},
		{"0 0 0 L * 6L", 10, "write ? for the one"},
		{"0 0 0 ?,1 * *", 6, "not a value"},
		{"0 0 0 W * ?", 6, "needs a day before it"},
		{"0 0 0 32W * ?", 6, `day of month "32"`},
		{"0 0 0 1-5W * ?", 6, "not a value"},
		{"0 0 0 L3 * ?", 7, "before a minus"},
		{"0 0 0 L-31 * ?", 8, "that far from its end"},
		{"0 0 0 L-x * ?", 8, `"x"`},
		{"0 0 0 L- * ?", 8, "a value is missing"},
		{"0 0 0 ? * 6#6", 12, "outside 1-5"},
		{"0 0 0 ? * 6#", 12, "outside 1-5"},
		{"0 0 0 ? * 9#1", 10, "out of range"},
		{"0 0 0 ? * 9L", 10, "out of range"},
		{"0 0 0 ? * 2-6L", 10, "not a value"},
		{"0 0 0 1 1 ? 1969", 12, `year "1969": out of range; allowed: 1970-2099 (at`},
		{"0 0 0 1 1 ? 2030-2020", 12, "write the lower value first"},
		{strings.Repeat("1,", 600) + "1 * * * *", 1024, "longer than"},
		{"é * * * *", 0, "not a value"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			c, err := ParseCron(tc.in)
			if c != nil {
				t.Errorf("a value besides the error: %+v", c)
			}
			wantSyntaxError(t, err, tc.offset, tc.what)
		})
	}
}

func TestCronStringIsTheText(t *testing.T) {
	for _, s := range []string{"0 0/5 * * * ?", "@daily"} {
		if got := mustCron(t, s).String(); got != s {
			t.Errorf("String() = %q, want %q", got, s)
		}
	}
}

func FuzzParseCron(f *testing.F) {
	for _, s := range []string{
		"* * * * *", "0 */2 * * *", "0 9 8 * *", "0 0/15 * * * ?", "@weekly", "0 0 0 LW * ?", "0 0 0 ? * 6#3",
		"0 0 22-2/2 L-3,15W JAN-MAR ? 2020/4", "*/7 FRI-SUN", "30 2 * * *", "0 0 30 2 *",
	} {
		f.Add(s, int64(1_615_700_000))
	}
	loc := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		c, err := ParseCron(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		after := time.Unix(unix, 0)
		first, ok := c.Next(after, loc)
		if !ok {
			return
		}
		if !first.After(after) || first.Nanosecond() != 0 {
			t.Fatalf("%q fires at %v after %v", s, first, after)
		}
		// Nothing fires in between, wherever the question is asked from.
		for _, from := range []time.Time{first.Add(-1), after.Add(first.Sub(after) / 2)} {
			if again, ok := c.Next(from, loc); !ok || !again.Equal(first) {
				t.Fatalf("%q fires at %v after %v, but at %v after %v", s, first, after, again, from)
			}
		}
	})
}
