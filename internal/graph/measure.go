package graph

import (
	"math"
	"strings"
	"unicode"
)

// Widths of the printable ASCII characters in thousandths of the font size. They
// are those of the sans-serif fonts that share Helvetica's metrics (Arial,
// Liberation Sans), the first choices of the drawing. Texts in other fonts are squeezed or
// stretched to the same widths.
var glyphWidths = [95]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space … /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 … ?
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ … O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P … _
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` … o
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p … ~
}

// boldWidths are those of the bold fonts.
var boldWidths = [95]uint16{
	278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, // space … /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, // 0 … ?
	975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, // @ … O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, // P … _
	333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, // ` … o
	611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584, // p … ~
}

// font is a size and a weight.
type font struct {
	size float64
	bold bool
}

var (
	nameFont  = font{14, true}
	typeFont  = font{10.5, false}
	partFont  = font{12, false}
	labelFont = font{11.5, false}
	titleFont = font{20, true}

	subtitleFont = font{14, false}
)

// width measures a text in pixels.
func (f font) width(text string) float64 {
	sum := 0
	for _, r := range text {
		switch {
		case f.bold && r >= ' ' && r <= '~':
			sum += int(boldWidths[r-' '])
		case f.bold:
			sum += runeWidth(r) * 107 / 100
		default:
			sum += runeWidth(r)
		}
	}
	return float64(sum) / 1000 * f.size
}

// line is the height of a line of text.
func (f font) line() float64 { return f.size*1.25 + 1 }

func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r <= '~':
		return int(glyphWidths[r-' '])
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1F000:
		return 1300 // pictures
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3,
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60:
		return 1000
	case unicode.IsUpper(r):
		return 720
	}
	return 600
}

// clean makes a text fit for one line: control characters, also those that turn the
// direction of writing, and runs of space become one space.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}

// cut shortens a text to a width, with an ellipsis where something is missing.
func (f font) cut(text string, width float64) string {
	if f.width(text) <= width {
		return text
	}
	room := width - f.width("…")
	end := 0
	for at, r := range text {
		if room -= f.width(string(r)); room < 0 {
			break
		}
		end = at + len(string(r))
	}
	return strings.TrimRight(text[:end], " ") + "…"
}

// wrap breaks a text into at most n lines of a width; the last is cut.
func (f font) wrap(text string, width float64, n int) []string {
	text = clean(text)
	var lines []string
	for len(lines) < n-1 && f.width(text) > width {
		at := f.breakAt(text, width, n-1-len(lines))
		if comma := strings.Index(text, ", "); comma > 0 && comma < at {
			at = comma + 2 // a second thought goes on a line of its own
		}
		if at <= 0 || at >= len(text) {
			break
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = strings.TrimLeft(text[at:], " ")
	}
	return append(lines, f.cut(text, width))
}

// breakAt finds the best end of a line: at a good place (see breakCost), with
// little room left, and so that the rest has room in the lines that follow.
func (f font) breakAt(text string, width float64, following int) int {
	best, at, used := 0, 0, 0.0
	lowest, total := math.Inf(1), f.width(text)
	runes := []rune(text)
	for i, r := range runes {
		if i > 0 {
			cost := breakCost(runes, i) + max(width-used, 0)/width
			if total-used > width*float64(following) {
				cost += 1.5
			}
			if cost <= lowest {
				best, lowest = at, cost
			}
		}
		if used += f.width(string(r)); used > width && r != ' ' {
			break
		}
		at += len(string(r))
	}
	return best
}

// breakCost says how bad it is to break before a character: not at all behind a
// space, a little between the parts of a path or an expression, more before a
// capital inside a word, and most inside a word.
func breakCost(text []rune, at int) float64 {
	before, next := text[at-1], text[at]
	dollar := at > 1 && strings.ContainsRune("$@", text[at-2])
	number := at > 1 && unicode.IsDigit(text[at-2]) && unicode.IsDigit(next)
	const operators = "=<>!&|+*"
	switch {
	case before == ' ':
		return 0
	case strings.ContainsRune("-_/,;:", before) && !number:
		return 0.3
	case before == '.' && !dollar && !number:
		return 0.5
	case strings.ContainsRune("[(", next) && !strings.ContainsRune("[(?", before):
		return 0.5
	case strings.ContainsRune(operators, before) && !strings.ContainsRune(operators, next):
		return 0.6
	case unicode.IsUpper(next) && unicode.IsLower(before):
		return 2
	}
	return 4
}
