// Package calendar reads the ways a workflow document writes time and applies
// them to a calendar. It is pure: no clock, no randomness, no goroutines. The
// caller says what "now" is, so the same inputs give the same instants on
// every machine and on every replay.
//
// Six notations, each with one parser:
//
//	ParseDuration   P2DT3H4M               how long: delays, timeouts, retry delays
//	ParseInstant    2020-03-20T13:00:00Z   one moment: v0.1 "delay until"
//	ParseInterval   <start>/<end> ...      a window in which starts are allowed
//	ParseRepeat     R5/PT15M               how often, and how far apart
//	ParseRepeating  R/<start>/PT6H ...     how far apart, from an instant or up to one
//	ParseCron       0 0/15 * * * ?         fire times, in a time zone
//
// Every parser fails with a *SyntaxError that carries the byte offset of the
// trouble and, where there is one, a hint that says what to write instead.
//
// # Durations are calendar units
//
// A month has no fixed length, so a Duration keeps months, days and
// nanoseconds apart until AddTo meets an instant. All arithmetic is in UTC:
// months first (Jan 31 + P1M is the last day of February), then days, then the
// rest. Results stay within the years 0 to 9999, which RFC 3339 can write.
// Durations that the package makes are never negative.
//
// # Cron
//
// Five fields are crontab (minute first, Sunday is 0 or 7, and when both day
// fields are restricted either one is enough). Six or seven fields are Quartz
// (second first, Sunday is 1, ? L W #, an optional year). One rule covers every
// change of the local clock: a wall time fires at the first instant at which
// the local clock shows that time or a later one. So a time that is skipped in
// spring fires once, when the clock resumes, and a time that is repeated in
// autumn fires once, the first time round.
//
// # Why not a library
//
// Cron libraries for Go are schedulers: they own the clock and the goroutine that waits, and
// each reads either crontab or Quartz. The engine needs only the next instant after a given
// one, for both, with an error that points at a character and one rule for daylight saving
// time. Libraries for ISO 8601 durations turn months into hours, or leave the arithmetic to
// their caller.
//
// # Where to read
//
//	syntax.go      SyntaxError
//	duration.go    Duration and its arithmetic; duration_parse.go its grammar
//	instant.go     instants
//	interval.go    Interval and Repeat; repeating.go Repeating
//	cron.go        Cron.Next: the search, field by field
//	cron_days.go   which days of a month match, with L, W and #
//	cron_parse.go  the expression; cron_field.go one field; cron_special.go L, W, #
//	wall.go        between wall times and instants, the only place with DST
package calendar
