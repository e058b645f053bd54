package run

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// ending finds the terms of a definition's dialect for how instances end, if it has any.
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

// handling says how the first definition can handle a fault, if its dialect has words for it.
func (s *session) handling(fault *core.Fault) string {
	words, ok := s.definitions[0].FrontEnd.(dialect.Handling)
	if !ok {
		return ""
	}
	return words.Handling(fault.Node, dialect.FaultWords{Name: fault.Name, Code: fault.Code, Type: fault.Type, Status: fault.Status})
}

// addEnding adds how an instance failed in the terms of its dialect.
func (s *session) addEnding(f *cli.Failure, row engine.Instance) {
	words, title := s.ending(row.Definition)
	if words == nil {
		return
	}
	status, category := words.ExecStatus(row.Fault.Name, row.Fault.Code, row.Fault.Status)
	f.Extra["execStatus"], f.Extra["category"] = status, category
	if category != row.Fault.Name {
		f.More = append(f.More, fmt.Sprintf("in the terms of %s this is %s", title, category))
	}
	f.Hint = strings.TrimPrefix(f.Hint, "give the function an operation, ") // it cannot be given here
	if strings.HasPrefix(f.Hint, "onErrors") {                              // only 0.5 has it
		if f.Hint = fmt.Sprintf("a retry of the action can handle it: {match: %s, …}", cli.FlowYAML(row.Fault.Name)); category == row.Fault.Name {
			f.Hint = "" // the definition itself says that it fails
		}
	}
}

// reportSuccess writes, for programs, how an instance completed in the terms of its dialect.
func (s *session) reportSuccess() error {
	words, _ := s.ending(s.first().ID)
	if words == nil || !s.app.Problems || s.flags.until != "" {
		return nil
	}
	status, _ := words.ExecStatus("", "", "")
	return cli.WriteJSONLine(s.app.Err, map[string]string{"execStatus": status})
}
