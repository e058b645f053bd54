package ctk

import (
	"fmt"
	"strings"
)

// Feature is one feature file.
type Feature struct {
	Name      string
	Scenarios []Scenario
}

// Scenario is a list of steps.
type Scenario struct {
	Name  string
	Line  int
	Steps []Step
}

// Step is one step without its keyword, and the doc string below it.
type Step struct {
	Line int
	Text string
	Doc  string
}

var keywords = []string{"Given ", "When ", "Then ", "And ", "But ", "* "}

// parseFeature reads a feature file. Tables, outlines and rules are not understood, and an error.
func parseFeature(src string) (*Feature, error) {
	f := &Feature{}
	var background, steps []Step
	var open func([]Step) // takes the steps of what is being read
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	finish := func() {
		if open != nil {
			open(steps)
		}
		steps = nil
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch head, rest, _ := strings.Cut(line, ":"); {
		case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "@"):
		case strings.HasPrefix(line, `"""`):
			doc, next, err := docString(lines, i)
			if err != nil {
				return nil, err
			}
			if len(steps) == 0 {
				return nil, fmt.Errorf("line %d: a doc string without a step", i+1)
			}
			steps[len(steps)-1].Doc = doc
			i = next
		case head == "Feature":
			f.Name = strings.TrimSpace(rest)
		case head == "Background":
			finish()
			open = func(s []Step) { background = s }
		case head == "Scenario" || head == "Example":
			finish()
			name, at := strings.TrimSpace(rest), i+1
			open = func(s []Step) {
				f.Scenarios = append(f.Scenarios, Scenario{name, at, append(append([]Step{}, background...), s...)})
			}
		default:
			text, ok := stepText(line)
			if ok && open != nil {
				steps = append(steps, Step{Line: i + 1, Text: text})
			} else if open != nil {
				return nil, fmt.Errorf("line %d: %q is not understood", i+1, line)
			} // else it describes the feature
		}
	}
	finish()
	return f, nil
}

func stepText(line string) (string, bool) {
	for _, word := range keywords {
		if text, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimSpace(text), true
		}
	}
	return "", false
}

// docString reads the text between two lines of quotes, less the indentation of the first.
func docString(lines []string, at int) (doc string, end int, err error) {
	indent := len(lines[at]) - len(strings.TrimLeft(lines[at], " \t"))
	var out []string
	for i := at + 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == `"""` {
			return strings.Join(out, "\n") + "\n", i, nil
		}
		line := lines[i]
		cut := 0
		for cut < indent && cut < len(line) && (line[cut] == ' ' || line[cut] == '\t') {
			cut++
		}
		out = append(out, line[cut:])
	}
	return "", 0, fmt.Errorf("line %d: the doc string has no end", at+1)
}
