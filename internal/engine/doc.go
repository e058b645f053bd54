// Package engine is the shell around the pure core: it makes every advance of an
// instance durable and carries out what the instance decided.
//
// # One write path
//
// Whatever happens to an instance (its start, a message, a due timer, the answer of a
// call, an event, an intervention) is an input. The engine loads the state, gives the inputs
// to core.Step in order of time (a fold), commits the outcome, and only then acts on it.
// Commits are compare-and-set on the instance's revision; after a conflict the engine loads
// the instance again.
//
// At one instant a timer comes before a message, and a message before an answer: what
// arrives at the very deadline is late.
//
// # Who calls the write path
//
// Inputs with a waiting caller are applied at once, by the caller's goroutine: starts,
// interventions, answers of calls, updates of jobs, and an event that exactly one instance waits
// for. Everything else waits in the store: messages, timers, events for several instances,
// schedules. [Engine.Poll] does all of it that is due; [Engine.Next] is the time at which more will
// be due. [Engine.Run] calls Poll under the real clock; a scenario calls it under a
// [VirtualClock] with Config.Inline, where the same inputs give the same ids and the same history.
//
// No instance holds up a pass of Run: a task that takes long goes on by itself, and is left
// out of the lists until it is done. With Config.Inline everything is done in order.
//
// A failure concerns one instance, or one event: it is retried with a growing delay, and an
// instance that keeps failing while others do not is put into quarantine. An instance that
// breaks an invariant is, at once. Only a store that fails for everything makes everything wait.
//
// # Events
//
// An event goes to every open subscription that it matches and starts the definitions
// that begin with it; it is kept for the window in any case. A wait that begins later
// gets the oldest kept event that matches and that its instance has not had: any event that
// arrived after the instance was created, or an older one that no instance took, if it matches by
// correlation. These rules are in route.go.
//
// # Files
//
// The write path: apply.go; post.go for inputs that share a commit; unread.go for a commit
// without a read before it; fold.go, a step's outcome as a commit; live.go, the states in memory.
//
// Work: poll.go looks for it; crew.go has the workers and the lane for expensive steps; run.go
// the goroutines; trouble.go what failed; stop.go, watchdog.go and suspects.go are for steps
// that do not end; housekeeping*.go deletes what is old.
//
// Events: ingest.go takes them, direct.go with the step of the one instance that waits, route.go
// decides where they go, gather.go for starts that need several; outbound.go sends them to the sink.
//
// The feed: relay.go passes it on to receivers, from where the store says on; publish.go and lifecycle.go as
// lifecycle events, notify.go as notices of failures, spans*.go as spans. trace.go has the trace contexts that come in and go out. figures.go counts.
//
// The rest: calls.go makes calls; schedule.go knows windows and cron; definitions.go what is
// deployed; jobs*.go are jobs, which actors outside advance, ask.go how concurrent updates of one
// job share a commit, campaign.go how instances create jobs and wait for them; cluster*.go is what
// differs in a store that other nodes use; admin.go and admin_read.go are for servers.
package engine
