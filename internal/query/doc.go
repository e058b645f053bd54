// Package query is the filter grammar that the API, the page and the command line
// share: what people type to select instances.
//
//	status:failed def:order@1.3 age:>1h error:Timeout order:A-1038
//
// A filter is a list of words, all of which must hold. A word is key:value or plain
// text; a key that is none of the grammar is the name of a label. A minus before a word negates, commas in a value mean any of them, and double
// quotes keep spaces and commas together. [Parse] says what is wrong and where.
//
// A [Filter] is two things: a store.Query, which stores answer from their indexes, and
// [Filter.Selects], which decides about one row. The caller applies it to the rows of the
// query, since a query cannot express every filter.
//
// parse.go reads words, keys.go knows what each key means; what is found by a name is in find.go, jobs are in jobs.go,
// ranges of time in times.go.
package query
