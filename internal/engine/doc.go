// Package engine is the shell around the pure core: it makes every advance of an
// instance durable and carries out what the instance decided.
//
// # One write path
//
// Whatever happens to an instance (its start, a message, a due timer, the answer of a
// call, an intervention) goes through apply: load the state, give the inputs to
// core.Step in order of time, commit the outcome, and only then act on it. Commits are
// compare-and-set on the instance's revision; who loses loads again.
//
// At one instant a timer comes before a message, and a message before an answer: what
// arrives at the very deadline is late.
//
// # Poll
//
// [Engine.Poll] does everything that can be done now; [Engine.Next] tells when there
// will be more. Goroutines only call Poll: [Engine.Run] does so under the real clock,
// a scenario under a [VirtualClock] with Config.Inline, where the same inputs give the
// same ids and the same history.
//
// No instance holds up a pass of Run: a task that takes long goes on by itself, and is left
// out of the lists until it is done. crew.go holds the workers and the lane for expensive
// work, watchdog.go what happens to steps that do not end. With Config.Inline everything is
// done in order.
//
// What fails is one instance's trouble, or one event's: it is tried again later and
// later, and an instance that keeps failing while others do not is set aside, as one
// that breaks an invariant is at once. Only a store that fails for everything makes
// everything wait.
//
// # Events
//
// An event goes to every open subscription that it matches and starts the definitions
// that begin with it; it is kept for the window in any case. A wait that begins later
// gets the oldest kept event that matches and that its instance has not had: any event
// that came after the instance was created, or an older one that nobody took, by
// correlation alone. route.go holds these rules.
//
// # Files
//
// apply.go is the write path, post.go for inputs that share a commit, unread.go without a read before it, fold.go a step's outcome as a commit; poll.go looks for
// work; calls.go makes calls; ingest.go takes events and route.go decides where they
// go, gather.go for starts that need several; outbound.go sends them to the sink;
// schedule.go knows windows and cron; definitions.go what is deployed; live.go the states in memory; trouble.go what failed; crew.go works on
// tasks, stop.go says when a step ends early, watchdog.go and suspects.go are for steps that do not end;
// run.go goroutines; jobs*.go are jobs, which actors outside advance, ask.go how several
// who write to one share a commit, and campaign.go how instances
// create them and wait for them; housekeeping*.go deletes what is old; cluster*.go is what differs where other nodes use the store, too; admin.go and admin_read.go are what only those need who serve others.
package engine
