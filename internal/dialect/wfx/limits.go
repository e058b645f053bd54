package wfx

// How large a workflow may be, as in wfx. One beyond a limit is refused with WFX107 or
// WFX108 and the limit's name.
const (
	MaxName        = 64     // workflow-name: characters of the name
	MaxDescription = 1024   // workflow-description: characters of the workflow's own description
	MaxStates      = 4096   // workflow-states
	MaxGroups      = 1024   // workflow-groups
	MaxTransitions = 16_384 // workflow-transitions
)
