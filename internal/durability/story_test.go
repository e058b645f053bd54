package durability

import "testing"

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

	beside func(t *testing.T, s *service) beside // starts what the story needs beside the service; nil: nothing
}

// beside is what a story needs beside the service.
type beside struct {
	names   map[string]string                // what stands for what in texts
	publish func(subject, text string) error // a message to the broker
	left    func()                           // looks at what is left in the end
}

// message is an event that is sent once the instance is in a state, or a message of the broker's, if it has a subject.
type message struct{ state, text, subject string }
