package main

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// ending finds the words of a definition's dialect for how instances end, if it has any.
func (s *session) ending(definition string) (words dialect.Ending, title string) {
	for _, d := range s.definitions {
		if d.Program.ID != definition {
			continue
		}
		if words, ok := d.FrontEnd.(dialect.Ending); ok {
			return words, d.FrontEnd.Title()
		}
	}
	return nil, ""
}

// tellFailure adds how an instance failed in the words of its dialect.
func (s *session) tellFailure(f *failure, row engine.Instance) {
	words, title := s.ending(row.Definition)
	if words == nil {
		return
	}
	status, category := words.ExecStatus(row.Fault.Name, row.Fault.Code, row.Fault.Status)
	f.extra["execStatus"], f.extra["category"] = status, category
	if category != row.Fault.Name {
		f.more = append(f.more, fmt.Sprintf("in the words of %s this is %s", title, category))
	}
	f.hint = strings.TrimPrefix(f.hint, "give the function an operation, ") // it cannot be given here
	if strings.HasPrefix(f.hint, "onErrors") {                              // only 0.5 has it
		if f.hint = fmt.Sprintf("a retry of the action can handle it: {match: %s, …}", flowYAML(row.Fault.Name)); category == row.Fault.Name {
			f.hint = "" // the definition itself says that it fails
		}
	}
}

// tellSuccess tells programs how an instance completed in the words of its dialect. The
// output is data and stays what it is.
func (s *session) tellSuccess() error {
	words, _ := s.ending(s.first().ID)
	if words == nil || !s.app.problems || s.flags.until != "" {
		return nil
	}
	status, _ := words.ExecStatus("", "", "")
	return writeJSONLine(s.app.err, map[string]string{"execStatus": status})
}
