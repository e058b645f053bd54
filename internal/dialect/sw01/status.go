package sw01

// The names of errors that 0.1 defines (0.1 E §错误). They are categories: a function's
// own error has a name of its own and belongs to one of them.
const (
	SysTimeout          = "SYS.Timeout"
	SysFail             = "SYS.Fail"
	SysMatchAny         = "SYS.MatchAny"
	SysPermission       = "SYS.Permission"
	SysInvalidParameter = "SYS.InvalidParameter"
	SysFilterError      = "SYS.FilterError"
)

// Names of faults that the core raises; core's constants are not for front-ends.
const (
	faultUnnamed    = "Error"
	faultTimeout    = "Timeout"
	faultExpression = "ExpressionError"
)

// Codes of answers that belong to a category (semantics.md §Functions, events, errors).
var (
	permissionCodes = []string{"401", "403"}
	parameterCodes  = []string{"400", "422"}
)

// Category is the name that 0.1 has for a fault, given the fault's own name, its code
// and the status of the answer. A name that is one of 0.1 itself counts whatever the
// code; retries match by the same rule.
func Category(name, code, status string) string {
	switch name {
	case SysTimeout, SysPermission, SysInvalidParameter, SysFilterError, SysFail:
		return name
	case faultTimeout:
		return SysTimeout
	case faultExpression:
		return SysFilterError
	}
	for _, c := range []string{code, status} {
		switch c {
		case "401", "403":
			return SysPermission
		case "400", "422":
			return SysInvalidParameter
		}
	}
	return SysFail
}

// statuses are the words of a form for how a workflow ended (0.1 K and 0.1 C §Workflow
// Definition). The earliest draft has none; it takes those of K.
func statuses(f form) []string {
	if f == camel {
		return []string{"Success", "Fail", "Timeout", "Invalid"}
	}
	return []string{"SYS.Success", "SYS.Fail", "SYS.Timeout", "SYS.InvalidParameter"}
}

// ExecStatus is how an instance ended in the words of its form, and the category of the
// fault, if there is one.
func (e FrontEnd) ExecStatus(name, code, status string) (word, category string) {
	words := statuses(e.form)
	if name == "" {
		return words[0], ""
	}
	switch category = Category(name, code, status); category {
	case SysTimeout:
		return words[2], category
	case SysInvalidParameter:
		return words[3], category
	}
	return words[1], category
}
