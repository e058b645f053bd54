package sim

// features08 are what the cases of 0.6 to 0.9 must come by together, see Outcome.Reached.
var features08 = []string{
	"a JSONPath", "a branch that is not needed", "a cancelled branch", "a child", "a child that continues", "a child that fails",
	"a child that nobody waits for", "a collection that is no array", "a compensation", "a condition that is neither true nor false",
	"a data condition", "a delay that maxDelay bounds", "a failing branch", "a failing iteration", "items that go on after a failing one", "a filter that sees the whole event",
	"a filter that selects nothing", "a foreach in batches", "a foreach that is held back by max", "a payload that is no object",
	"a payload that is not used", "a produced event", "a repetition", "a repetition that its expression ends", "a result that is no object",
	"a retry of a state", "a retry of an action", "a sequential foreach", "a sleep after an action", "a sleep before an action",
	"a start by events", "a start by several events, complete or lapsed", "a start event for a running instance",
	"a state that is entered again", "a switch without a match", "a terminate inside a foreach", "a terminate inside a parallel",
	"a terminate inside a subflow", "a terminate of a child", "a whole event", "a workflow that is interrupted",
	"a workflow that is not there", "a workflow whose state finishes after its time", "an action by events",
	"an action that is an expression", "an action that is skipped", "an action that leaves its state",
	"an action that only produces an event", "an action that throws", "an asynchronous call", "an asynchronous child",
	"an asynchronous child that ends with its parent", "an automatic retry", "an early event", "an empty collection",
	"an error handler by name", "an error of a state that is ignored", "an error of an action that is ignored", "an error policy",
	"an error that a handler excepts", "an error that is handled", "an error that is not to be retried", "an error that is thrown",
	"an event condition", "an event of its own", "an event state that needs all events", "an event with another correlation",
	"an event with the right correlation", "an expression inside text", "an expression that fails", "an expression with several values",
	"an input filter that fails", "an instance that is cancelled", "an instance that is completed", "an instance that is failed",
	"an instance that is kept active", "an instance that is waiting", "an instance that waits for an asynchronous call",
	"an unknown error that cannot be handled", "an unknown error that is not retried", "continueAs", "end", "end terminate", "fn:",
	"parallel ", "parallel actions", "parallel allOf", "parallel and", "parallel atLeast", "parallel n_of_m", "parallel xor", "publish",
	"results that are not used", "retries used up", "runBefore", "state callback", "state delay", "state event", "state foreach",
	"state inject", "state operation", "state parallel", "state sleep", "state subflow", "state switch", "subscribe",
	"the default of a switch", "the timeout of a branch", "the timeout of a callback", "the timeout of a state", "the timeout of a switch",
	"the timeout of an action", "the timeout of an event state",
}

// rare08 are what only many more cases come by.
var rare08 = []string{
	"a repetition after an error", "an error that must not be retried", "an event of another instance", "an event that stops a repetition",
}
