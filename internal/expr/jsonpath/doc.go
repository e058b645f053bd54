// Package jsonpath compiles Jayway's dialect of JSONPath, and the {{ }} templates
// around it (0.5 §Workflow Data Expressions; semantics.md §Expressions).
//
// The way from text to value is visible as files: lex.go reads characters,
// parse.go, parse_filter.go and parse_value.go build a path, eval.go and filter.go run it,
// functions.go and numbers.go hold what paths can call, template.go the strings
// around paths, describe.go what a front-end may ask without running anything.
//
// A definite path (only names and single indexes) gives a value and allocates
// nothing. Every other path gives the list of its matches: a parent before its
// children, members by sorted key, items by index. A function at the end makes a
// path definite again.
//
// The specification asks for Jayway's dialect, whose results differ from RFC 9535 and from
// every JSONPath library for Go that we know: what an indefinite path gives, what a missing
// name means, regular expressions and functions in filters. None of those libraries can be
// stopped after a number of steps either.
//
// Nothing here depends on time, randomness or map order, and everything that can
// grow is charged to the [expr.Budget].
package jsonpath
