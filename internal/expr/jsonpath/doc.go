// Package jsonpath compiles Jayway's dialect of JSONPath, and the {{ }} templates
// around it (003 §Workflow Data Expressions; SEMANTICS §Expressions).
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
// Nothing here depends on time, randomness or map order, and everything that can
// grow is charged to the [expr.Budget].
package jsonpath
