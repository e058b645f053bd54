package jsonpath

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// eachNumber visits the numbers of the input list and of the arguments, and skips everything
// else, as Jayway's aggregations do.
func eachNumber(in expr.Value, args []expr.Value, b *expr.Budget, visit func(expr.Value) error) error {
	list := func(items []expr.Value) error {
		if err := b.Step(len(items)); err != nil {
			return err
		}
		for _, it := range items {
			if it.Kind() == expr.KindNumber {
				if err := visit(it); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := list(in.Items()); err != nil {
		return err
	}
	for _, a := range args {
		if a.IsArray() {
			if err := list(a.Items()); err != nil {
				return err
			}
			continue
		}
		if err := list([]expr.Value{a}); err != nil {
			return err
		}
	}
	return nil
}

func runMin(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	return extreme(in, args, b, -1)
}

func runMax(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	return extreme(in, args, b, 1)
}

// extreme returns the smallest or largest number with its digits as written; the first of equal
// ones.
func extreme(in expr.Value, args []expr.Value, b *expr.Budget, want int) (best expr.Value, ok bool, err error) {
	err = eachNumber(in, args, b, func(v expr.Value) error {
		if !ok {
			best, ok = v, true
			return nil
		}
		c, _, err := b.Compare(v, best)
		if c*want > 0 {
			best = v
		}
		return err
	})
	return best, ok, err
}

// maxDigits bounds exact sums. Numbers with more digits than this before or
// after the point are added as float64.
const maxDigits = 1 << 10

// total adds numbers exactly: mantissa × 10^-scale, so that 0.1 + 0.2 is 0.3
// and large integers keep their digits.
type total struct {
	count    int
	small    int64 // the sum of whole numbers that is not in mantissa yet
	mantissa big.Int
	scale    int
	inexact  bool
	float    float64
}

func (t *total) add(v expr.Value, b *expr.Budget) error {
	t.count++
	f, err := b.Float(v)
	if err != nil {
		return err
	}
	t.float += f
	if i, ok := v.Int(); ok {
		if sum := t.small + i; (sum > t.small) == (i > 0) {
			t.small = sum
			return nil
		}
	}
	text := v.NumberText()
	// Each addition takes time for the sum so far, too.
	if err := b.Step(4 + len(text)/5 + t.mantissa.BitLen()/64); err != nil {
		return err
	}
	mantissa, exponent, ok := split(text)
	if !ok {
		t.inexact = true
	}
	if t.inexact {
		return nil
	}
	scale := max(0, -exponent)
	if exponent > 0 {
		mantissa.Mul(mantissa, power10(exponent))
	}
	if scale > t.scale {
		t.mantissa.Mul(&t.mantissa, power10(scale-t.scale))
		t.scale = scale
	} else if scale < t.scale {
		mantissa.Mul(mantissa, power10(t.scale-scale))
	}
	t.mantissa.Add(&t.mantissa, mantissa)
	return nil
}

func power10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// split returns a number as mantissa × 10^exponent; ok is false if either is too large.
func split(text string) (mantissa *big.Int, exponent int, ok bool) {
	digits := text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxDigits || e < -maxDigits {
			return nil, 0, false
		}
		digits, exponent = text[:i], e
	}
	if whole, frac, found := strings.Cut(digits, "."); found {
		digits = whole + frac
		exponent -= len(frac)
	}
	if len(digits) > maxDigits || exponent < -maxDigits {
		return nil, 0, false
	}
	mantissa, ok = new(big.Int).SetString(digits, 10)
	return mantissa, exponent, ok
}

// value returns the sum divided by n.
func (t *total) value(n int) (expr.Value, bool) {
	if t.small != 0 {
		small := big.NewInt(t.small)
		t.mantissa.Add(&t.mantissa, small.Mul(small, power10(t.scale)))
		t.small = 0
	}
	if t.inexact {
		v := expr.Float(t.float / float64(n))
		return v, !v.IsNull()
	}
	if n > 1 {
		rest := new(big.Int)
		quotient, _ := new(big.Int).QuoRem(&t.mantissa, big.NewInt(int64(n)), rest)
		if rest.Sign() != 0 {
			divisor := new(big.Int).Mul(power10(t.scale), big.NewInt(int64(n)))
			f, _ := new(big.Rat).SetFrac(&t.mantissa, divisor).Float64()
			v := expr.Float(f)
			return v, !v.IsNull()
		}
		t.mantissa = *quotient
	}
	v, err := expr.Number(decimalText(t.mantissa.String(), t.scale))
	return v, err == nil
}

// decimalText places the point scale digits from the right, and drops zeros
// after it.
func decimalText(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, frac := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if frac == "" {
		if whole == "0" {
			sign = ""
		}
		return sign + whole
	}
	return sign + whole + "." + frac
}

func runSum(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	var t total
	if err := eachNumber(in, args, b, func(v expr.Value) error { return t.add(v, b) }); err != nil || t.count == 0 {
		return expr.Null, false, err
	}
	v, ok := t.value(1)
	return v, ok, nil
}

func runAvg(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	var t total
	if err := eachNumber(in, args, b, func(v expr.Value) error { return t.add(v, b) }); err != nil || t.count == 0 {
		return expr.Null, false, err
	}
	v, ok := t.value(t.count)
	return v, ok, nil
}

// runStddev is the standard deviation of the population, as in Jayway. The explicit conversion
// keeps the compiler from fusing operations, which would change the last digits on some
// machines.
func runStddev(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	var numbers []float64
	sum := 0.0
	if err := eachNumber(in, args, b, func(v expr.Value) error {
		f, err := b.Float(v)
		numbers = append(numbers, f)
		sum += f
		return err
	}); err != nil || len(numbers) == 0 {
		return expr.Null, false, err
	}
	n := float64(len(numbers))
	mean := sum / n
	squares := 0.0
	for _, f := range numbers {
		d := f - mean
		squares += float64(d * d)
	}
	v := expr.Float(math.Sqrt(squares / n))
	return v, !v.IsNull(), nil
}
