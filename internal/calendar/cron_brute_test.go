package calendar

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The tests in this file compare Next with a second implementation that is as
// dumb as possible: it generates the meaning of an expression together with
// its text, lets a clock tick, and looks at every tick.

// values is what a generated field allows.
type values map[int]bool

// genField generates a field and what it means. Values run from low to high.
func genField(low, high int) *rapid.Generator[fieldModel] {
	return rapid.Custom(func(t *rapid.T) fieldModel {
		var items []string
		allowed := values{}
		put := func(from, to, step int) {
			for v := from; v <= to; v += step {
				allowed[v] = true
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			from := rapid.IntRange(low, high).Draw(t, "from")
			to := rapid.IntRange(from, high).Draw(t, "to")
			step := rapid.IntRange(1, high-low+1).Draw(t, "step")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				items = append(items, fmt.Sprint(from))
				put(from, from, 1)
			case 1:
				items = append(items, fmt.Sprintf("%d-%d", from, to))
				put(from, to, 1)
			case 2:
				items = append(items, fmt.Sprintf("%d-%d/%d", from, to, step))
				put(from, to, step)
			case 3:
				items = append(items, fmt.Sprintf("%d/%d", from, step))
				put(from, high, step)
			case 4:
				step = max(step, 2) // */1 would be a star
				items = append(items, fmt.Sprintf("*/%d", step))
				put(low, high, step)
			}
		}
		return fieldModel{strings.Join(items, ","), allowed}
	})
}

type fieldModel struct {
	text    string
	allowed values
}

func star(low, high int) fieldModel {
	f := fieldModel{"*", values{}}
	for v := low; v <= high; v++ {
		f.allowed[v] = true
	}
	return f
}

func genFieldOrStar(low, high int) *rapid.Generator[fieldModel] {
	return rapid.OneOf(rapid.Just(star(low, high)), genField(low, high))
}

var zoneNames = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo",
}

// genAfter generates an instant, half of the time near a change of the clock.
func genAfter(loc *time.Location, spread time.Duration) *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		// 1990 to 2050, beyond the tables and into the rules of tzdata.
		base := time.Unix(rapid.Int64Range(631_152_000, 2_524_608_000).Draw(t, "unix"), 0)
		if _, change := base.In(loc).ZoneBounds(); rapid.Bool().Draw(t, "near a change") && !change.IsZero() {
			base = change.Add(time.Duration(rapid.Int64Range(-int64(spread), int64(spread)).Draw(t, "off")))
		}
		return base
	})
}

// brute lets a clock tick from before the instant on. A tick that takes the
// clock over a matching wall time for the first time is a fire.
func brute(after time.Time, loc *time.Location, tick, span time.Duration, match func(wall time.Time) bool) (time.Time, bool) {
	wallAt := func(t time.Time) time.Time {
		l := t.In(loc)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), 0, time.UTC)
	}
	now := after.Truncate(tick).Add(-3 * time.Hour) // no change in these zones is longer
	shown := wallAt(now)
	for end := after.Add(span); !now.After(end); now = now.Add(tick) {
		fire := false
		for wall := wallAt(now); shown.Before(wall); {
			shown = shown.Add(tick)
			fire = match(shown) || fire
		}
		if fire && now.After(after) {
			return now, true
		}
	}
	return time.Time{}, false
}

func compare(t *rapid.T, expr string, after time.Time, loc *time.Location, span time.Duration, want time.Time, found bool) {
	c, err := ParseCron(expr)
	if err != nil {
		t.Fatalf("ParseCron(%q): %v", expr, err)
	}
	got, ok := c.Next(after, loc)
	switch {
	case found && (!ok || !got.Equal(want)):
		t.Fatalf("%q after %v fires at %v, %v; want %v", expr, after.In(loc), got, ok, want.In(loc))
	case !found && ok && !got.After(after.Add(span)):
		t.Fatalf("%q after %v fires at %v; want nothing within %v", expr, after.In(loc), got, span)
	}
}

func TestCrontabAgreesWithBruteForce(t *testing.T) {
	const span = 15 * 24 * time.Hour
	for _, name := range zoneNames {
		t.Run(name, func(t *testing.T) {
			loc := zone(t, name)
			rapid.Check(t, func(t *rapid.T) {
				minute := genFieldOrStar(0, 59).Draw(t, "minute")
				hour := rapid.OneOf(genFieldOrStar(0, 23), rapid.Just(fieldModel{"1-3", values{1: true, 2: true, 3: true}})).Draw(t, "hour")
				dom := genFieldOrStar(1, 31).Draw(t, "dom")
				month := genFieldOrStar(1, 12).Draw(t, "month")
				dow := genFieldOrStar(0, 6).Draw(t, "dow")
				match := func(w time.Time) bool {
					d, wd := dom.allowed[w.Day()], dow.allowed[int(w.Weekday())]
					day := d && wd
					if dom.text != "*" && dow.text != "*" {
						day = d || wd
					}
					return minute.allowed[w.Minute()] && hour.allowed[w.Hour()] && month.allowed[int(w.Month())] && day
				}
				after := genAfter(loc, 36*time.Hour).Draw(t, "after")
				want, found := brute(after, loc, time.Minute, span, match)
				expr := strings.Join([]string{minute.text, hour.text, dom.text, month.text, dow.text}, " ")
				compare(t, expr, after, loc, span, want, found)
			})
		})
	}
}

func TestQuartzClockAgreesWithBruteForce(t *testing.T) {
	const span = 3 * time.Hour
	for _, name := range zoneNames {
		t.Run(name, func(t *testing.T) {
			loc := zone(t, name)
			rapid.Check(t, func(t *rapid.T) {
				second := genFieldOrStar(0, 59).Draw(t, "second")
				minute := genFieldOrStar(0, 59).Draw(t, "minute")
				hour := genFieldOrStar(0, 23).Draw(t, "hour")
				match := func(w time.Time) bool {
					return second.allowed[w.Second()] && minute.allowed[w.Minute()] && hour.allowed[w.Hour()]
				}
				after := genAfter(loc, 3*time.Hour).Draw(t, "after")
				want, found := brute(after, loc, time.Second, span, match)
				expr := strings.Join([]string{second.text, minute.text, hour.text, "*", "*", "?"}, " ")
				compare(t, expr, after, loc, span, want, found)
			})
		})
	}
}

// dayModel is a Quartz day field and whether a day matches it.
type dayModel struct {
	text  string
	match func(day time.Time) bool
}

func genDayOfMonth() *rapid.Generator[dayModel] {
	return rapid.Custom(func(t *rapid.T) dayModel {
		n := rapid.IntRange(1, 31).Draw(t, "n")
		back := rapid.IntRange(1, 30).Draw(t, "back")
		// is asks for the day of that number, or the weekday nearest to it, which
		// is the least distant Monday to Friday among the days of the month.
		is := func(day time.Time, n int, nearest bool) bool {
			last := lastDay(day)
			if n < 1 || n > last {
				return false
			}
			if !nearest {
				return day.Day() == n
			}
			best := 0
			for d := 1; d <= last; d++ {
				wd := day.AddDate(0, 0, d-day.Day()).Weekday()
				if wd != time.Saturday && wd != time.Sunday && (best == 0 || distance(d, n) < distance(best, n)) {
					best = d
				}
			}
			return day.Day() == best
		}
		return rapid.SampledFrom([]dayModel{
			{"L", func(d time.Time) bool { return is(d, lastDay(d), false) }},
			{"LW", func(d time.Time) bool { return is(d, lastDay(d), true) }},
			{fmt.Sprintf("L-%d", back), func(d time.Time) bool { return is(d, lastDay(d)-back, false) }},
			{fmt.Sprintf("L-%dW", back), func(d time.Time) bool { return is(d, lastDay(d)-back, true) }},
			{fmt.Sprintf("%dW", n), func(d time.Time) bool { return is(d, n, true) }},
			{fmt.Sprint(n), func(d time.Time) bool { return is(d, n, false) }},
		}).Draw(t, "item")
	})
}

// lastDay counts up until the month changes.
func lastDay(day time.Time) int {
	for day.AddDate(0, 0, 1).Month() == day.Month() {
		day = day.AddDate(0, 0, 1)
	}
	return day.Day()
}

func distance(a, b int) int { return max(a-b, b-a) }

func genDayOfWeek() *rapid.Generator[dayModel] {
	return rapid.Custom(func(t *rapid.T) dayModel {
		from, to := rapid.IntRange(1, 7).Draw(t, "from"), rapid.IntRange(1, 7).Draw(t, "to")
		nth := rapid.IntRange(1, 5).Draw(t, "nth")
		is := func(d time.Time) bool { return int(d.Weekday())+1 == from }
		return rapid.SampledFrom([]dayModel{
			{"L", func(d time.Time) bool { return d.Weekday() == time.Saturday }},
			{fmt.Sprintf("%dL", from), func(d time.Time) bool { return is(d) && d.AddDate(0, 0, 7).Month() != d.Month() }},
			{fmt.Sprintf("%d#%d", from, nth), func(d time.Time) bool { return is(d) && (d.Day()+6)/7 == nth }},
			{fmt.Sprint(from), is},
			{fmt.Sprintf("%d-%d", from, to), func(d time.Time) bool {
				for v := from; ; v = v%7 + 1 {
					if int(d.Weekday())+1 == v || v == to {
						return int(d.Weekday())+1 == v
					}
				}
			}},
		}).Draw(t, "item")
	})
}

func TestQuartzDaysAgreeWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dom, dow := genDayOfMonth(), genDayOfWeek()
		a, b := dom, "?"
		if rapid.Bool().Draw(t, "by week") {
			a, b = dow, ""
		}
		items := rapid.SliceOfN(a, 1, 2).Draw(t, "days")
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = item.text
		}
		list := strings.Join(texts, ",")
		month := genFieldOrStar(1, 12).Draw(t, "month")
		year := genFieldOrStar(1970, 2099).Draw(t, "year")
		expr := fmt.Sprintf("0 0 0 %s %s %s %s", list, month.text, b, year.text)
		if b == "" {
			expr = fmt.Sprintf("0 0 0 ? %s %s %s", month.text, list, year.text)
		}
		c, err := ParseCron(expr)
		if err != nil {
			t.Fatalf("ParseCron(%q): %v", expr, err)
		}
		start := time.Date(rapid.IntRange(1968, 2098).Draw(t, "from"), time.November, 30, 0, 0, 0, 0, time.UTC)
		at := start
		for day := start.AddDate(0, 0, 1); day.Before(start.AddDate(3, 0, 0)); day = day.AddDate(0, 0, 1) {
			match := false
			for _, item := range items {
				match = match || item.match(day)
			}
			if !match || !month.allowed[int(day.Month())] || !year.allowed[day.Year()] {
				continue
			}
			got, ok := c.Next(at, time.UTC)
			if !ok || !got.Equal(day) {
				t.Fatalf("%q after %v fires at %v, %v; want %v", expr, at, got, ok, day)
			}
			at = day
		}
		if got, ok := c.Next(at, time.UTC); ok && got.Before(start.AddDate(3, 0, 0)) {
			t.Fatalf("%q after %v fires at %v; want nothing before %v", expr, at, got, start.AddDate(3, 0, 0))
		}
	})
}
