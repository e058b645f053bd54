package durability

// story is a workflow, what is sent to its one instance, and what that leaves. SERVICE stands for the
// address of the service in its texts.
type story struct {
	name           string
	definitions    []string // the first is the instance's
	states         []string // in the order in which the instance is in them
	input          string
	events         []message
	output         string
	calls          []string       // that the service gets, as often as there are keys; the first and the last in their place
	records        map[string]int // of history, by type
	commits        int            // of the instance, at least
	taken, emitted int            // events; each that is emitted starts another instance
}

// message is an event that is sent once the instance is in a state.
type message struct{ state, text string }
