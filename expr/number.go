package expr

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// Number returns the number written as text in JSON's grammar. All digits are
// kept: 12345678901234567890 and 1.10 come out as they went in.
func Number(text string) (Value, error) {
	if n := scanNumber(text); n == 0 || n != len(text) {
		return Null, fmt.Errorf("%q is not a JSON number", text)
	}
	return numberOf(text), nil
}

// numberOf trusts the grammar. It keeps the text where int64 would lose any of it.
func numberOf(text string) Value {
	if len(text) <= len("-9223372036854775808") && text != "-0" {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(i)
		}
	}
	return Value{uint64(len(text)), decimalRef(unsafe.StringData(text))}
}

// Float returns f as a number; NaN and infinities are null, which is how JSON writes them.
func Float(f float64) Value { return numberOfFloat(f, 64) }

// numberOfFloat writes f with as few digits as tell it apart from its neighbours
// of that many bits.
func numberOfFloat(f float64, bits int) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return Int(int64(f))
	}
	return numberOf(strconv.FormatFloat(f, 'g', -1, bits))
}

// Float returns the nearest float64 of a number, 0 for every other kind.
func (v Value) Float() float64 {
	if _, ok := v.ref.(intRef); ok {
		return float64(int64(v.num))
	}
	f, _ := strconv.ParseFloat(v.NumberText(), 64)
	return f
}

// scanNumber returns how many bytes of s are one JSON number.
func scanNumber[T string | []byte](s T) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	default:
		j := digits(i)
		if j == i {
			return 0
		}
		i = j
	}
	if i < len(s) && s[i] == '.' {
		j := digits(i + 1)
		if j == i+1 {
			return 0
		}
		i = j
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		k := digits(j)
		if k == j {
			return 0
		}
		i = k
	}
	return i
}

// decimal is sign × 0.digits × 10^exp with no leading or trailing zero digits,
// so that equal numbers have one form and 1e1000000000 costs nothing to compare.
type decimal struct {
	neg    bool
	digits string
	exp    int64
}

// maxExponent caps exponents so that arithmetic on them cannot overflow; numbers
// beyond compare equal in magnitude, which no program can tell by other means.
const maxExponent = math.MaxInt64 / 4

func parseDecimal(text string) decimal {
	var d decimal
	d.neg = strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	d.exp = int64(len(whole))
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > maxExponent || e < -maxExponent {
			e = maxExponent
			if exponent[0] == '-' {
				e = -maxExponent
			}
		}
		d.exp += e
	}
	d.digits = whole + frac
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exp -= int64(len(d.digits) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) compare(o decimal) int {
	if d.digits == "" || o.digits == "" || d.neg != o.neg {
		return cmp.Compare(sign(d), sign(o))
	}
	c := 0
	switch {
	case d.exp != o.exp:
		c = 1
		if d.exp < o.exp {
			c = -1
		}
	default:
		c = strings.Compare(d.digits, o.digits)
	}
	if d.neg {
		return -c
	}
	return c
}

func sign(d decimal) int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// int64 returns the value where it is a whole number that fits.
func (d decimal) int64() (int64, bool) {
	if d.digits == "" {
		return 0, true
	}
	if d.exp < int64(len(d.digits)) || d.exp > 19 {
		return 0, false
	}
	text := d.digits + strings.Repeat("0", int(d.exp)-len(d.digits))
	if d.neg {
		text = "-" + text
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

// appendText writes one form for all spellings of the number.
func (d decimal) appendText(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if i, ok := d.int64(); ok {
		return strconv.AppendInt(dst, i, 10)
	}
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, "0."...)
	dst = append(dst, d.digits...)
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, d.exp, 10)
}
