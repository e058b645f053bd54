package dialect

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/expr"
)

// scalar decides the type of a scalar: by its tag; else it is text if quoted; else by YAML
// 1.2's core schema (§10.3.2).
func (y *yamlReader) scalar(n *yaml.Node, out *Node) {
	out.style = scalarStyle(n)
	tagged := n.Style&yaml.TaggedStyle != 0
	if n.Tag == "!" || tagged && n.Tag == "!!str" || !tagged && out.style != stylePlain && out.style != styleEmpty {
		out.Kind, out.Text = expr.KindString, n.Value
		return
	}
	if tagged && !coreTags[n.Tag] {
		y.foreignTag(n)
		out.Kind, out.Text = expr.KindString, n.Value
		return
	}
	y.core(n.Value, out)
	if tagged {
		y.checkTag(n, out)
	}
}

func scalarStyle(n *yaml.Node) style {
	switch s := n.Style; {
	case s&yaml.SingleQuotedStyle != 0:
		return styleSingle
	case s&yaml.DoubleQuotedStyle != 0:
		return styleDouble
	case s&yaml.LiteralStyle != 0:
		return styleLiteral
	case s&yaml.FoldedStyle != 0:
		return styleFolded
	case isEmpty(n):
		return styleEmpty
	}
	return stylePlain
}

func isNullWord(text string) bool {
	return text == "" || text == "~" || text == "null" || text == "Null" || text == "NULL"
}

// core resolves a plain scalar. In YAML 1.2, y, yes, on, no, off and dates are text.
func (y *yamlReader) core(text string, out *Node) {
	switch text {
	case "true", "True", "TRUE":
		out.Kind, out.Text = expr.KindBool, "true"
		return
	case "false", "False", "FALSE":
		out.Kind, out.Text = expr.KindBool, "false"
		return
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		y.errorf(out.start, out.start+len(text), CodeNumber, "%s is not a number that JSON data can hold", text).
			WithHint("put it in quotes if it is meant as text")
		out.Kind, out.Text = expr.KindNumber, "0"
		return
	}
	if isNullWord(text) {
		return
	}
	if number, ok := coreNumber(text, y.limits.Digits); ok {
		if len(text) > y.limits.Digits {
			number = text
		}
		y.number(out, number)
		if zeros := strings.TrimLeft(text, "+-"); len(zeros) > 1 && zeros[0] == '0' && zeros[1] >= '0' && zeros[1] <= '9' {
			y.warnf(out.start, out.start+len(text), CodeLeadingZero, "YAML 1.2 reads %s as the number %s", text, number).
				WithHint("write %q to keep the zeros, or 0o… for an octal number", text)
		}
		return
	}
	out.Kind, out.Text = expr.KindString, text
}

// coreTags are the tags of YAML's core schema that a scalar may have.
var coreTags = map[string]bool{"!!str": true, "!!null": true, "!!bool": true, "!!int": true, "!!float": true}

// checkTag reports a core tag that contradicts the text.
func (y *yamlReader) checkTag(n *yaml.Node, out *Node) {
	ok := false
	switch n.Tag {
	case "!!null":
		ok = out.Kind == expr.KindNull
	case "!!bool":
		ok = out.Kind == expr.KindBool
	case "!!int":
		ok = out.Kind == expr.KindNumber && !strings.ContainsAny(out.Text, ".eE")
	case "!!float":
		ok = out.Kind == expr.KindNumber
	}
	if !ok {
		y.errorf(out.start, out.end(), CodeTag, "%s is not what its tag %s says", quote(n.Value), n.Tag)
	}
}

func (y *yamlReader) containerTag(n *yaml.Node, core string) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != core {
		y.foreignTag(n)
	}
}

func (y *yamlReader) foreignTag(n *yaml.Node) {
	at := y.lines.offset(n.Line, n.Column)
	src := y.doc.Source
	if n.Anchor != "" && at < len(src) && src[at] == '&' {
		at = skipBlank(src, at+1+len(n.Anchor))
	}
	y.errorf(at, at+len(word(src[at:])), CodeTag, "tag %s is not one of YAML's core tags", quote(n.Tag)).
		WithHint("remove the tag; write what it stands for as plain data")
}

// coreNumber returns a number of YAML's core schema in JSON's grammar: decimal
// with its digits as written, hexadecimal and octal converted. Longer numbers
// than the limit are recognised, not converted.
func coreNumber(text string, limit int) (number string, ok bool) {
	if text == "" || text[0] > '9' { // signs, the point and digits are not above '9'
		return "", false
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		return wholeNumber(digits, 16, limit)
	}
	if digits, ok := strings.CutPrefix(text, "0o"); ok {
		return wholeNumber(digits, 8, limit)
	}
	sign, rest := "", strings.TrimPrefix(text, "+")
	if text[0] == '-' {
		sign, rest = "-", text[1:]
	}
	mantissa, exponent := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i:]
		digits := exponent[1:]
		if digits != "" && (digits[0] == '+' || digits[0] == '-') {
			digits = digits[1:]
		}
		if !isDigits(digits) {
			return "", false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !isDigits(whole + fraction) {
		return "", false
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole + exponent, true
}

func wholeNumber(digits string, base, limit int) (number string, ok bool) {
	const hexadecimal = "0123456789abcdefABCDEF"
	if digits == "" || strings.Trim(digits, hexadecimal) != "" {
		return "", false
	}
	if len(digits) > limit {
		return "", true
	}
	i, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	return i.String(), true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
