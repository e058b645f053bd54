package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// spanText is an amount of time in words: "2 days", "1 h 30 min".
func spanText(s ir.Span) string {
	switch {
	case !s.Set && s.Until == "" && s.Expr == 0:
		return ""
	case s.Until != "":
		return "until " + s.Until
	case s.Expr != 0:
		return "a computed time"
	}
	var words []string
	add := func(n int64, one, many string) {
		if n != 0 {
			unit := many
			if n == 1 {
				unit = one
			}
			words = append(words, fmt.Sprintf("%d %s", n, unit))
		}
	}
	add(s.Months/12, "year", "years")
	add(s.Months%12, "month", "months")
	const second = 1_000_000_000
	hours := s.Nanos / (3600 * second)
	add(s.Days+hours/24, "day", "days") // 168 h are 7 days to people
	add(hours%24, "h", "h")
	add(s.Nanos/(60*second)%60, "min", "min")
	if rest := s.Nanos % (60 * second); rest != 0 {
		words = append(words, strconv.FormatFloat(float64(rest)/second, 'f', -1, 64)+" s")
	}
	if len(words) == 0 {
		return "0 s"
	}
	return strings.Join(words, " ")
}
