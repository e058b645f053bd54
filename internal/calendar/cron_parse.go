package calendar

import "strings"

const (
	// maxCronLength leaves room for a list of every second and every minute.
	maxCronLength = 1024

	fieldsHint = "crontab has 5 fields: minute hour day-of-month month day-of-week (0 9 8 * * is 9:00 on the 8th); " +
		"Quartz has 6 or 7: second minute hour day-of-month month day-of-week [year] (0 0/15 * * * ? is every 15 minutes)"
)

// macros are crontab's names for common expressions.
var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// ParseCron reads a cron expression: 5 fields as in crontab, 6 or 7 as in
// Quartz, or one of @yearly @annually @monthly @weekly @daily @midnight
// @hourly. Names and letters may be in either case.
func ParseCron(s string) (*Cron, error) {
	if len(s) > maxCronLength {
		return nil, fail(maxCronLength, "", "the cron expression is longer than %d bytes", maxCronLength)
	}
	words := split(s)
	if len(words) > 0 && strings.HasPrefix(words[0].text, "@") {
		expression, ok := macros[strings.ToLower(words[0].text)]
		if !ok || len(words) > 1 {
			return nil, fail(words[0].at, "the macros are @yearly @annually @monthly @weekly @daily @midnight @hourly",
				"%s is not a cron macro", quote(strings.TrimSpace(s)))
		}
		words = split(expression)
	}
	c := &Cron{text: s}
	var err error
	switch len(words) {
	case 5:
		err = c.parseCrontab(words)
	case 6, 7:
		err = c.parseQuartz(words)
	default:
		at := len(s)
		if len(words) > 7 {
			at = words[7].at
		}
		err = fail(at, fieldsHint, "a cron expression has 5, 6 or 7 fields, this one has %d", len(words))
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// word is a piece of an expression and where it starts in it.
type word struct {
	text string
	at   int
}

// split cuts an expression at its white space.
func split(s string) []word {
	var words []word
	start := -1
	for i := range len(s) + 1 {
		space := i == len(s) || strings.IndexByte(" \t\r\n", s[i]) >= 0
		switch {
		case space && start >= 0:
			words = append(words, word{s[start:i], start})
			start = -1
		case !space && start < 0:
			start = i
		}
	}
	return words
}

func (c *Cron) parseCrontab(words []word) error {
	c.second, c.anyYear = 1, true
	for i, read := range []func(word) error{
		func(w word) error { return minuteField.read(w, into(&c.minute)) },
		func(w word) error { return hourField.read(w, into(&c.hour)) },
		func(w word) error {
			c.anyDayOfMonth = unrestricted(w.text)
			return crontabDayOfMonth.read(w, into(&c.dayOfMonth))
		},
		func(w word) error { return crontabMonth.read(w, into(&c.month)) },
		func(w word) error {
			c.anyDayOfWeek = unrestricted(w.text)
			return crontabDayOfWeek.read(w, func(v int) { c.dayOfWeek |= 1 << (v % 7) })
		},
	} {
		if err := read(words[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cron) parseQuartz(words []word) error {
	c.anyYear = len(words) < 7
	for i, read := range []func(word) error{
		func(w word) error { return secondField.read(w, into(&c.second)) },
		func(w word) error { return quartzMinute.read(w, into(&c.minute)) },
		func(w word) error { return quartzHour.read(w, into(&c.hour)) },
		func(w word) error {
			c.anyDayOfMonth = w.text == "?" || unrestricted(w.text)
			return c.readDayOfMonth(w)
		},
		func(w word) error { return quartzMonth.read(w, into(&c.month)) },
		func(w word) error {
			c.anyDayOfWeek = w.text == "?" || unrestricted(w.text)
			return c.readDayOfWeek(w)
		},
		func(w word) error {
			return yearField.read(w, func(v int) { c.years[(v-firstYear)/64] |= 1 << ((v - firstYear) % 64) })
		},
	}[:len(words)] {
		if err := read(words[i]); err != nil {
			return err
		}
	}
	month, week := words[3], words[5]
	switch {
	case month.text == "?" && week.text == "?":
		return fail(week.at, "write * for one of them", "day of month and day of week cannot both be ?")
	case !c.anyDayOfMonth && !c.anyDayOfWeek:
		return fail(week.at, "write ? for the one that does not matter, or use the 5 fields of crontab, "+
			"where either is enough", "day of month %s and day of week %s cannot both be given with 6 or 7 fields",
			quote(month.text), quote(week.text))
	}
	return nil
}

// unrestricted reports whether a day field says nothing about the day. The
// crontab manual's "restricted (i.e. isn't *)" is taken at its word: 1-31 and
// */2 are restrictions.
func unrestricted(text string) bool {
	for item := range strings.SplitSeq(text, ",") {
		if item == "*" || item == "*/1" {
			return true
		}
	}
	return false
}

func into(set *uint64) func(int) {
	return func(v int) { *set |= 1 << v }
}
