package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// separators are characters like any other to YAML 1.2 (§5.4), also in comments. The
// library, which knows 1.1, ends lines at them; so it gets others to see.
var separators = []rune{'\u0085', '\u2028', '\u2029'}

// The private use area, in which stand-ins are looked for.
const (
	firstPrivate = '\ue000'
	lastPrivate  = '\uf8ff'
)

// hideSeparators puts characters that the document does not hold in the place of
// separators. Each is one character, so lines and columns stay what they are.
func (y *yamlReader) hideSeparators(src []byte, begin int) []byte {
	at := bytes.IndexFunc(src, func(c rune) bool { return slices.Contains(separators, c) })
	if at < 0 {
		return src
	}
	used := privateIn(src)
	var hide, show []string
	c := firstPrivate
	for _, separator := range separators {
		for used[c] {
			c++
		}
		if c > lastPrivate {
			c, n := utf8.DecodeRune(src[at:])
			y.fatal(begin+at, begin+at+n, CodeEncoding, "character U+%04X in the document", c).
				WithHint("write it as an escape in double quotes: \"\\u%04x\"", c)
			return nil
		}
		hide = append(hide, string(separator), string(c))
		show = append(show, string(c), string(separator))
		c++
	}
	y.shown = strings.NewReplacer(show...)
	return []byte(strings.NewReplacer(hide...).Replace(string(src)))
}

// privateIn finds the private characters that text holds, as they are or as escapes.
func privateIn(text []byte) map[rune]bool {
	used := map[rune]bool{}
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case 'u':
				c, _ = hexRune(text[i+2:], 4)
			case 'U':
				c, _ = hexRune(text[i+2:], 8)
			}
		}
		if c >= firstPrivate && c <= lastPrivate {
			used[c] = true
		}
		i += n
	}
	return used
}

// show puts the separators back into what the library read.
func (y *yamlReader) show(n *yaml.Node) {
	n.Value, n.Anchor, n.Tag = y.shown.Replace(n.Value), y.shown.Replace(n.Anchor), y.shown.Replace(n.Tag)
	for _, c := range n.Content {
		y.show(c)
	}
}
