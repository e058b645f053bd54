package sw08

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var _ dialect.Handling = frontEnd{}

// Handling says how a state can handle a fault: by type and status (0.9), by an error that the definition has to name
// (0.7, 0.8). 0.6 does it as 0.5 does.
func (f frontEnd) Handling(state string, fault dialect.FaultWords) string {
	code := cmp.Or(fault.Code, fault.Status)
	switch {
	case f.form == form06:
		return ""
	case f.form == form09:
		match := "type: " + strings.TrimPrefix(fault.Type, errorBase)
		if fault.Status != "" {
			match += ", status: " + fault.Status
		}
		return fmt.Sprintf("onErrors in state %q can handle it: {when: [{%s}], then: {transition: …}}", state, match)
	case code == "":
		return fmt.Sprintf("with errors: [{name: %q}], onErrors in state %q can handle it: {errorRef: %q, transition: …}", fault.Name, state, fault.Name)
	}
	return fmt.Sprintf("with errors: [{name: %q, code: %q}], onErrors in state %q can handle it: {errorRef: %q, transition: …}", fault.Name, code, state, fault.Name)
}
