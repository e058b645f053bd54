package sw01

import "strings"

// form is one of the three documents that describe version 0.1.
type form uint8

const (
	early form = iota // E: kebab-case, functions by name
	kebab             // K: kebab-case, function objects
	camel             // C: camelCase, SUBFLOW, ids
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

// ways lists how a key, given in camelCase, may be spelled in any form: the form's own way
// first. Paths of filters may also be in PascalCase (0.1 E §过滤器机制).
func (f form) ways(key string) []string {
	switch {
	case key == "eventID":
		return []string{key, "eventId", "event-id"}
	case strings.HasSuffix(key, "Path"):
		return []string{f.spell(key), key, kebabCase(key), strings.ToUpper(key[:1]) + key[1:]}
	}
	return []string{f.spell(key), key, kebabCase(key)}
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

// waits says what an absent wait-for-completion of a branch means (0.1 E §Parallel
// State: when all branches are complete; K and C: the schema's default).
func (f form) waits() bool { return f == early }

// zeroDelay says whether nothing is an amount of time (E: a positive integer; K:
// at least 0).
func (f form) zeroDelay() bool { return f != early }

// seconds says whether a bare number is an amount of time (semantics.md §Time).
func (f form) seconds() bool { return f != camel }
