package calendar

import (
	"fmt"
	"strconv"
	"strings"
)

// field is the grammar of one field: a list of values, ranges and steps.
type field struct {
	name     string
	min, max int
	names    []string // the first stands for the lowest value
	quartz   bool     // ranges may wrap (22-2), a step may stand alone (/15)
	note     string   // added to the allowed range in messages
}

var (
	monthNames = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	dayNames   = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

	minuteField       = field{name: "minute", min: 0, max: 59}
	hourField         = field{name: "hour", min: 0, max: 23}
	crontabDayOfMonth = field{name: "day of month", min: 1, max: 31}
	crontabMonth      = field{name: "month", min: 1, max: 12, names: monthNames, note: " or JAN-DEC"}
	crontabDayOfWeek  = field{name: "day of week", min: 0, max: 7, names: dayNames, note: " or SUN-SAT; 0 and 7 are Sunday"}

	secondField      = field{name: "second", min: 0, max: 59, quartz: true}
	quartzMinute     = field{name: "minute", min: 0, max: 59, quartz: true}
	quartzHour       = field{name: "hour", min: 0, max: 23, quartz: true}
	quartzDayOfMonth = field{name: "day of month", min: 1, max: 31, quartz: true, note: ", ?, L, L-3, LW or 15W"}
	quartzMonth      = field{name: "month", min: 1, max: 12, names: monthNames, quartz: true, note: " or JAN-DEC"}
	quartzDayOfWeek  = field{name: "day of week", min: 1, max: 7, names: dayNames, quartz: true, note: " or SUN-SAT, ?, L, 6L or 6#3; 1 is Sunday"}
	yearField        = field{name: "year", min: firstYear, max: lastYear, quartz: true}
)

// top is the last value that * and open steps reach: 7 is Sunday a second time.
func (f *field) top() int { return f.min + f.size() - 1 }

// size is the number of different values.
func (f *field) size() int {
	if f.max == 7 {
		return 7
	}
	return f.max - f.min + 1
}

func (f *field) fail(at int, text, hint, format string, args ...any) error {
	return fail(at, hint, "%s %s: %s; allowed: %d-%d%s",
		f.name, quote(text), fmt.Sprintf(format, args...), f.min, f.max, f.note)
}

// read reports every value of a field, some perhaps twice.
func (f *field) read(w word, add func(int)) error {
	return f.items(w, func(item word) error { return f.readItem(item, add) })
}

// items calls read for each item of a list.
func (f *field) items(w word, read func(word) error) error {
	at := w.at
	for text := range strings.SplitSeq(w.text, ",") {
		if text == "" {
			return f.fail(at, w.text, "", "an item of the list is empty")
		}
		if err := read(word{text, at}); err != nil {
			return err
		}
		at += len(text) + 1
	}
	return nil
}

// readItem reads *, 5, 5-10, and each of them with a step.
func (f *field) readItem(item word, add func(int)) error {
	base, stepText, stepped := strings.Cut(item.text, "/")
	step := 1
	if stepped {
		var err error
		if step, err = f.step(word{stepText, item.at + len(base) + 1}); err != nil {
			return err
		}
	}
	low, high := f.min, f.top()
	if base != "*" && !(base == "" && stepped && f.quartz) {
		lowText, highText, ranged := strings.Cut(base, "-")
		var err error
		if low, err = f.value(word{lowText, item.at}); err != nil {
			return err
		}
		switch {
		case ranged:
			if high, err = f.value(word{highText, item.at + len(lowText) + 1}); err != nil {
				return err
			}
			if high, err = f.rangeEnd(word{base, item.at}, low, high); err != nil {
				return err
			}
		case !stepped:
			high = low
		default: // 5/15 goes on to the end, from a Sunday that is 7 as well
			high = max(low, high)
		}
	}
	for v := low; v <= high; v += step {
		if v <= f.max {
			add(v)
		} else {
			add(v - f.size())
		}
	}
	return nil
}

// rangeEnd returns the end of a range, beyond f.max for one that wraps.
func (f *field) rangeEnd(text word, low, high int) (int, error) {
	switch {
	case low <= high:
		return high, nil
	case f.quartz && f.max != lastYear:
		return high + f.size(), nil
	case !f.quartz && f.max == 7 && high == 0:
		return 7, nil // FRI-SUN: Sunday also ends the week
	}
	hint := "write the lower value first"
	if f.max != lastYear {
		hint = fmt.Sprintf("split it: %d-%d,%d-%d", low, f.max, f.min, high)
	}
	return 0, f.fail(text.at, text.text, hint, "the range runs backwards")
}

func (f *field) step(w word) (int, error) {
	n, err := strconv.Atoi(w.text)
	switch {
	case err != nil || digitsFrom(w.text, 0) < len(w.text):
		return 0, f.fail(w.at, w.text, "", "a step is a number from 1 to %d", f.size())
	case n < 1 || n > f.size():
		return 0, f.fail(w.at, w.text, "", "the step is outside 1-%d", f.size())
	}
	return n, nil
}

func (f *field) value(w word) (int, error) {
	if w.text == "" {
		return 0, f.fail(w.at, w.text, "", "a value is missing")
	}
	for i, name := range f.names {
		if upper(w.text) == name {
			return f.min + i, nil
		}
	}
	if digitsFrom(w.text, 0) < len(w.text) {
		return 0, f.fail(w.at, w.text, f.unknownHint(w.text), "not a value of this field")
	}
	n, err := strconv.Atoi(w.text)
	if err != nil || n < f.min || n > f.max {
		return 0, f.fail(w.at, w.text, "", "out of range")
	}
	return n, nil
}

func (f *field) unknownHint(text string) string {
	switch {
	case strings.Contains(text, "TZ="):
		return "the time zone is a property of its own, beside the expression"
	case f.quartz || !strings.Contains(f.name, "day"):
		return ""
	case text == "?":
		return "? belongs to Quartz; in 5 fields write *"
	case strings.ContainsAny(upper(text), "LW#"):
		return "L, W and # belong to Quartz: put a field for seconds in front, and ? for the other day field"
	}
	return ""
}
