package calendar

import (
	"strings"
	"time"
)

// readDayOfMonth reads Quartz's day of month: ?, L, L-3, LW, L-3W, 15W and the
// common items, in a list if need be.
func (c *Cron) readDayOfMonth(w word) error {
	f := &quartzDayOfMonth
	if w.text == "?" {
		return nil
	}
	return f.items(w, func(item word) error {
		text, weekday := strings.CutSuffix(upper(item.text), "W")
		back, fromEnd := strings.CutPrefix(text, "L")
		if !weekday && !fromEnd {
			return f.readItem(item, into(&c.dayOfMonth))
		}
		rule := monthRule{fromEnd: fromEnd, weekday: weekday}
		switch {
		case text == "":
			return f.fail(item.at, item.text, "LW is the last weekday, 15W the one nearest to the 15th", "W needs a day before it")
		case !fromEnd:
			day, err := f.value(word{text, item.at})
			if err != nil {
				return err
			}
			rule.day = day
		case back != "":
			if back[0] != '-' {
				return f.fail(item.at+1, item.text, "L-3 is three days before the last", "L stands alone or before a minus")
			}
			day, err := f.value(word{item.text[2:len(text)], item.at + 2})
			if err != nil {
				return err
			}
			if day > 30 {
				return f.fail(item.at+2, item.text, "", "no month has a day that far from its end")
			}
			rule.day = day
		}
		c.monthRules = append(c.monthRules, rule)
		return nil
	})
}

// readDayOfWeek reads Quartz's day of week: ?, L (Saturday), 6L, 6#3 and the
// common items, in a list if need be.
func (c *Cron) readDayOfWeek(w word) error {
	f := &quartzDayOfWeek
	if w.text == "?" {
		return nil
	}
	weekday := func(w word) (time.Weekday, error) {
		v, err := f.value(w)
		return time.Weekday(v - 1), err
	}
	return f.items(w, func(item word) error {
		dayText, nth, numbered := strings.Cut(item.text, "#")
		lastText, last := strings.CutSuffix(upper(item.text), "L")
		switch {
		case numbered:
			day, err := weekday(word{dayText, item.at})
			if err != nil {
				return err
			}
			if len(nth) != 1 || nth[0] < '1' || nth[0] > '5' {
				return f.fail(item.at+len(dayText)+1, nth, "6#3 is the third Friday of the month", "the number after # is outside 1-5")
			}
			c.weekRules = append(c.weekRules, weekRule{day, int(nth[0] - '0')})
		case last && lastText == "":
			c.dayOfWeek |= 1 << time.Saturday
		case last:
			day, err := weekday(word{item.text[:len(lastText)], item.at})
			if err != nil {
				return err
			}
			c.weekRules = append(c.weekRules, weekRule{weekday: day})
		default:
			return f.readItem(item, func(v int) { c.dayOfWeek |= 1 << (v - 1) })
		}
		return nil
	})
}
