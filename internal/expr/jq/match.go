package jq

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPattern is how many instructions a pattern may have when its repetitions are
// written out.
const maxPattern = 4096 // filter-pattern

// pattern compiles a regular expression, and pays for that and for a walk through the text.
func (m *meter) pattern(v, re, flags any) (text string, compiled *regexp.Regexp, global bool, err error) {
	text, isText := v.(string)
	source, isPattern := re.(string)
	set, isSet := flags.(string)
	if !isText || !isPattern || !isSet && flags != nil {
		return "", nil, false, &Error{Msg: "a regular expression, its flags and what they are matched with are text"}
	}
	if len(source) > maxPattern {
		return "", nil, false, m.refuse("filter-pattern", maxPattern)
	}
	var prefix string
	for _, flag := range set {
		switch flag {
		case 'g':
			global = true
		case 'i':
			prefix += "(?i)"
		case 's', 'm': // jq's name for what others call s
			prefix += "(?s)"
		default:
			return "", nil, false, &Error{Msg: fmt.Sprintf("%q is not a flag of regular expressions; g, i and m are", flag)}
		}
	}
	tree, err := syntax.Parse(prefix+source, syntax.Perl)
	if err != nil {
		return "", nil, false, &Error{Msg: short(err.Error())}
	}
	size := patternSize(tree)
	if size > maxPattern {
		return "", nil, false, m.refuse("filter-pattern", maxPattern)
	}
	if err := m.pay(times(size, 4) + times(size, 1+len(text)/bytesPerStep)); err != nil {
		return "", nil, false, err
	}
	compiled, err = regexp.Compile(prefix + source)
	if err != nil {
		return "", nil, false, &Error{Msg: short(err.Error())}
	}
	return text, compiled, global, nil
}

// patternSize counts what a pattern compiles to, at most; it stops counting where that
// is too much.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += patternSize(sub)
		if size > maxPattern {
			return size
		}
	}
	if re.Op == syntax.OpRepeat {
		size = times(size, max(re.Min, re.Max, 1)+1)
	}
	return size
}

func (m *meter) test(v, re, flags any) any {
	text, compiled, _, err := m.pattern(v, re, flags)
	if err != nil {
		return err
	}
	return compiled.MatchString(text)
}

// match lists the matches, each as jq describes one. Offsets count letters.
func (m *meter) match(v, re, flags any) any {
	text, compiled, global, err := m.pattern(v, re, flags)
	if err != nil {
		return err
	}
	most := 1
	if global {
		if err := m.pay(times(len(text)+1, 1+compiled.NumSubexp())); err != nil {
			return err
		}
	}
	if global { // one more than there can be memory for
		most = (m.memory-m.made-m.stacks)/sizeOfObject(1) + 1
	}
	names := compiled.SubexpNames()
	letters := counter{text: text}
	out := []any{}
	before := m.made
	for _, at := range compiled.FindAllStringSubmatchIndex(text, most) {
		whole := letters.part(at[0], at[1])
		captures := make([]any, 0, len(names)-1)
		within := letters
		for i := 1; i < len(names); i++ {
			capture := map[string]any{"offset": -1, "length": 0, "string": nil}
			if at[2*i] >= 0 {
				inner := within // groups need not come in the order of their places
				capture = inner.part(at[2*i], at[2*i+1])
				if err := m.pay((at[1] - at[0]) / bytesPerStep); err != nil {
					return err
				}
			}
			capture["name"] = nil
			if names[i] != "" {
				capture["name"] = names[i]
			}
			captures = append(captures, capture)
		}
		whole["captures"] = captures
		out = append(out, whole)
		if err := m.allocValue(whole, allLevels); err != nil { // before the next one: a match is much larger than its text
			return err
		}
	}
	m.made = before // the whole list is counted as the result
	return out
}

// counter counts letters up to a place in a text, going forward only.
type counter struct {
	text     string
	at, seen int // bytes, and the letters in them
}

// part describes a part of the text, and stays where it begins.
func (c *counter) part(from, to int) map[string]any {
	c.seen += utf8.RuneCountInString(c.text[c.at:from])
	c.at = from
	part := c.text[from:to]
	return map[string]any{"offset": c.seen, "length": utf8.RuneCountInString(part), "string": strings.Clone(part)}
}
