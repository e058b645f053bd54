package calendar

import "time"

// monthRule is a day of the month that depends on the month.
type monthRule struct {
	fromEnd bool // day counts back from the last day: 0 is the last (L), 3 is L-3
	day     int
	weekday bool // the Monday to Friday nearest to it, in the same month (W)
}

// weekRule is one weekday of the month.
type weekRule struct {
	weekday time.Weekday
	nth     int // 1 to 5 (6#3); 0 is the last (6L)
}

// days returns the matching days of a month, one bit each.
func (c *Cron) days(year int, month time.Month) uint64 {
	last := daysIn(year, month)
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	all := uint64(1)<<(last+1) - 2 // bits 1 to last

	switch {
	case c.anyDayOfMonth && c.anyDayOfWeek:
		return all
	case c.anyDayOfMonth:
		return c.byWeek(first, last)
	case c.anyDayOfWeek:
		return c.byMonth(first, last) & all
	default: // crontab: with both fields restricted, either one is enough
		return (c.byMonth(first, last) | c.byWeek(first, last)) & all
	}
}

// byMonth may set bits of days that the month does not have.
func (c *Cron) byMonth(first time.Weekday, last int) uint64 {
	set := c.dayOfMonth
	for _, rule := range c.monthRules {
		day := rule.day
		if rule.fromEnd {
			day = last - rule.day
		}
		if day < 1 || day > last {
			continue // the month has no such day, as with a plain 31
		}
		if rule.weekday {
			day = nearestWeekday(day, first, last)
		}
		set |= 1 << day
	}
	return set
}

func (c *Cron) byWeek(first time.Weekday, last int) uint64 {
	var set uint64
	for day := 1; day <= last; day++ {
		if c.dayOfWeek&(1<<weekdayOf(day, first)) != 0 {
			set |= 1 << day
		}
	}
	for _, rule := range c.weekRules {
		day := 1 + (int(rule.weekday)-int(first)+7)%7 // its first in the month
		if rule.nth > 0 {
			day += 7 * (rule.nth - 1)
		} else {
			day += (last - day) / 7 * 7
		}
		if day <= last {
			set |= 1 << day
		}
	}
	return set
}

// nearestWeekday moves a Saturday to the Friday before and a Sunday to the
// Monday after, but never into another month.
func nearestWeekday(day int, first time.Weekday, last int) int {
	switch weekdayOf(day, first) {
	case time.Saturday:
		if day == 1 {
			return day + 2
		}
		return day - 1
	case time.Sunday:
		if day == last {
			return day - 2
		}
		return day + 1
	default:
		return day
	}
}

// weekdayOf returns a day's weekday, given that of the first of its month.
func weekdayOf(day int, first time.Weekday) time.Weekday {
	return (first + time.Weekday(day-1)) % 7
}
