package sw10

import "strings"

// errorBase begins the standard types of errors as they are raised and shown.
const errorBase = "https://open-workflow-specification.org/spec/1.0.0/errors/"

// The standard errors.
const (
	errConfiguration  = "configuration"
	errValidation     = "validation"
	errExpression     = "expression"
	errAuthentication = "authentication"
	errAuthorization  = "authorization"
	errTimeout        = "timeout"
	errCommunication  = "communication"
	errRuntime        = "runtime"
)

// standardErrors are their statuses, where nothing else gives one.
var standardErrors = map[string]int64{
	errConfiguration: 400, errValidation: 400, errExpression: 400, errAuthentication: 401, errAuthorization: 403, errTimeout: 408,
	errCommunication: 500, errRuntime: 500,
}

// standardError returns the name of a standard error by its type, in any spelling that versions of
// the specification and its examples have: two hosts, and two paths.
func standardError(typ string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(typ, "https://")
	if !ok {
		return "", false
	}
	host, path, _ := strings.Cut(rest, "/")
	switch host {
	case "open-workflow-specification.org", "serverlessworkflow.io":
	default:
		return "", false
	}
	name, ok = strings.CutPrefix(path, "spec/1.0.0/errors/")
	if !ok {
		name, ok = strings.CutPrefix(path, "dsl/errors/types/")
	}
	_, known := standardErrors[name]
	return name, ok && known
}

// errorType returns the type as it is raised and compared.
func errorType(typ string) string {
	if name, ok := standardError(typ); ok {
		return errorBase + name
	}
	return typ
}
