// Package mock answers calls from the `mocks:` map of a scenario file or of
// `lockstep run --mock`, which package scenario reads:
//
//	mocks:
//	  charge:                                   # call by call, the last repeats
//	  - {error: {name: CardDeclined, code: "402"}}
//	  - {delay: PT2S, result: {ok: true}}
//	  echoBack: {echo: true}                    # returns its arguments
//	  "*": {result: {}}                         # any other function
//
// All functions without a key of their own use up one list under "*" together.
package mock
