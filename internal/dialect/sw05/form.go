package sw05

import "strings"

// form is one of the versions of 2020 that this package reads. 0.1 as it was released in April and 0.2, the draft
// that followed, are one language in two spellings, and most of what they mean is what 0.5 means. Parsing takes
// every spelling of one in the other; what a form means by itself is asked for by name, here.
type form uint8

const (
	released form = iota // 0.5
	april                // 0.1 as it was released in April 2020
	summer               // 0.2, the draft of summer 2020
)

// Names of the other forms, as in programs and with --dialect.
const (
	AprilName  = "sw01-final"
	SummerName = "sw02"
)

func (f form) name() string { return [...]string{Name, AprilName, SummerName}[f] }

func (f form) title() string {
	return "Serverless Workflow " + [...]string{"0.5", "0.1 (as released)", "0.2"}[f]
}

// before05 reports whether the form is one of those before 0.5.
func (f form) before05() bool { return f != released }

// spell writes a word that a key may have: a type, a kind, a mode.
func (f form) spell(word string) string {
	if f == april {
		return strings.ToUpper(word)
	}
	return word
}

// braces says whether text may hold expressions in double braces. 0.1 has none.
func (f form) braces() bool { return f != april }

// waits says whether a branch that does not say so is waited for (0.1 §Parallel State: Branch, the schema's
// default; 0.2 §Parallel State: completionType).
func (f form) waits() bool { return f != april }
