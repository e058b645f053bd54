// Package format rewrites documents in the house layout without changing what
// they say: values, comments, and the order of lists stay as they are.
//
// Read source.go first: [Source] formats, then reads its own result and compares the two. It
// refuses a document rather than change its meaning. A YAML document goes through three steps:
// layout.go splits its lines into entries with their comments and empty lines, order.go knows the
// order of an object's keys, and print.go writes the entries; scalar.go decides about quotes. JSON
// needs one step only (json.go).
//
// The layout is that of the examples: indentation by two spaces, lists not indented below their
// key, at most one empty line in a row, containers in brackets on one line. Text is quoted if it
// must be, or if other YAML parsers might misread it; expressions in {{ }} always are.
package format
