package sw01

import "strings"

// form is one of the three documents that describe version 0.1.
type form uint8

const (
	early form = iota // 001: kebab-case, functions by name
	kebab             // 004: kebab-case, function objects
	camel             // 000: camelCase, SUBFLOW, ids
)

// Family is how all forms together are called with --dialect.
const Family = "sw01"

// Names of the forms, as in programs and with --dialect.
const (
	EarlyName = "sw01-early"
	KebabName = "sw01-kebab"
	CamelName = "sw01-camel"
)

func (f form) name() string { return [...]string{EarlyName, KebabName, CamelName}[f] }

func (f form) title() string {
	return "Serverless Workflow 0.1 " + [...]string{"(earliest draft)", "(kebab-case)", "(camelCase)"}[f]
}

// spell writes a key, given in camelCase, as the form does.
func (f form) spell(key string) string {
	switch {
	case f == camel:
		return key
	case f == early && (key == "inputPath" || key == "resultPath" || key == "outputPath"):
		return strings.ToUpper(key[:1]) + key[1:]
	case key == "eventID" || key == "workflowId" || key == "startsAt":
		return key // no document in kebab-case has the last two
	}
	return kebabCase(key)
}

func kebabCase(key string) string {
	var b strings.Builder
	for _, c := range key {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// waits says what an absent wait-for-completion of a branch means (001 §Parallel
// State: when all branches are complete; 004 and 000: the schema's default).
func (f form) waits() bool { return f == early }

// zeroDelay says whether nothing is an amount of time (001: a positive integer; 004:
// at least 0).
func (f form) zeroDelay() bool { return f != early }

// seconds says whether a bare number is an amount of time (SEMANTICS §Time).
func (f form) seconds() bool { return f != camel }
