package jq

import "strings"

// token is a word of a filter: a name, a $variable or an @format. Names behind a dot, as in .a,
// and what stands in text and comments are not words.
type token struct {
	at   int
	text string
}

// words lists the words of a filter. It does not parse: what is malformed gives some words.
func words(src string) []token {
	var out []token
	var open []int // parentheses inside each \( that is open
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '#':
			i = commentEnd(src, i)
		case c == '"':
			var inner bool
			if i, inner = textEnd(src, i+1); inner {
				open = append(open, 0)
			}
		case c == '(':
			if len(open) > 0 {
				open[len(open)-1]++
			}
			i++
		case c == ')' && len(open) > 0 && open[len(open)-1] == 0:
			var inner bool
			if i, inner = textEnd(src, i+1); !inner {
				open = open[:len(open)-1]
			}
		case c == ')':
			if len(open) > 0 {
				open[len(open)-1]--
			}
			i++
		case c == '.':
			if i++; i < len(src) && isLetter(src[i]) {
				i = wordEnd(src, i)
			}
		case isLetter(c) || (c == '$' || c == '@') && i+1 < len(src) && isLetter(src[i+1]):
			end := wordEnd(src, i+1)
			out = append(out, token{i, src[i:end]})
			i = end
		case isDigit(c): // 1e5 has no names
			i = wordEnd(src, i)
		default:
			i++
		}
	}
	return out
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func wordEnd(src string, i int) int {
	for i < len(src) && (isLetter(src[i]) || isDigit(src[i])) {
		i++
	}
	return i
}

// textEnd is where a text goes on that continues at i: behind its end, or inside \(.
func textEnd(src string, i int) (end int, inner bool) {
	for ; i < len(src); i++ {
		switch src[i] {
		case '"':
			return i + 1, false
		case '\\':
			if i++; i < len(src) && src[i] == '(' {
				return i + 1, true
			}
		}
	}
	return i, false
}

// commentEnd is where the line of a comment ends; a backslash continues it.
func commentEnd(src string, i int) int {
	for ; i < len(src) && src[i] != '\n' && src[i] != '\r'; i++ {
		if src[i] == '\\' && i+1 < len(src) {
			if i++; strings.HasPrefix(src[i:], "\r\n") {
				i++
			}
		}
	}
	return i
}

// find is where one of some words stands first, 0 if nowhere. The key of an object is not meant
// while there is another.
func find(src string, names ...string) int {
	key := -1
	for _, name := range names {
		for _, word := range words(src) {
			if word.text != name {
				continue
			}
			if rest := strings.TrimLeft(src[word.at+len(name):], " \t\r\n"); !strings.HasPrefix(rest, ":") {
				return word.at
			}
			if key < 0 {
				key = word.at
			}
		}
	}
	return max(key, 0)
}
