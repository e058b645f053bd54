package ir

import "strings"

// JobScheme begins the operation of a function that creates jobs: job:WORKFLOW.
const JobScheme = "job:"

// The arguments of a function that creates jobs. Client is needed.
const (
	JobArgClient     = "client"     // whose job it is, a text
	JobArgTags       = "tags"       // a list of texts
	JobArgDefinition = "definition" // what the job is about, any value
)

// JobArguments lists them.
var JobArguments = []string{JobArgClient, JobArgTags, JobArgDefinition}

// JobWorkflow is the workflow of the jobs that an operation creates. It reports false
// for operations that create none.
func JobWorkflow(operation string) (name string, ok bool) {
	return strings.CutPrefix(operation, JobScheme)
}
