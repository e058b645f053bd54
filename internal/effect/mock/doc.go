// Package mock answers calls from the `mocks:` map of a scenario file or of
// `lockstep run --mock` (UX.md §Scenario files):
//
//	mocks:
//	  charge:                                   # call by call, the last repeats
//	  - {error: {name: CardDeclined, code: "402"}}
//	  - {delay: PT2S, result: {ok: true}}
//	  echoBack: {echo: true}                    # returns its arguments
//	  "*": {result: {}}                         # any other function
//
// A list under "*" is used up by all functions that fall to it together.
package mock
