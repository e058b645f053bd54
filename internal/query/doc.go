// Package query is the filter grammar that the API, the page and the command line
// share: what people type to select instances.
//
//	status:failed def:order@1.3 age:>1h error:Timeout tag:eu
//
// A filter is a list of words, all of which must hold. A word is key:value or plain
// text; a minus before it negates, commas in a value mean any of them, and double
// quotes keep spaces and commas together. [Parse] says what is wrong and where.
//
// A [Filter] is two things: a store.Query, which stores answer from their indexes, and
// [Filter.Selects], which decides about one row. The caller applies it to the rows of the
// query, since a query cannot express every filter.
//
// parse.go reads words, keys.go knows what each key means; those of jobs are in jobs.go,
// ranges of time in times.go.
package query
