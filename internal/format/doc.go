// Package format rewrites documents in the house layout without changing what
// they say: values, comments, and the order of lists stay as they are.
//
// Read source.go first: [Source] formats, then reads its own result and compares
// the two, and rather refuses than write something that says anything else.
// A YAML document goes through three steps: layout.go takes its lines apart into
// entries that own their comments and empty lines, order.go says in which order
// the keys of an object stand, and print.go writes the entries at their new
// place; scalar.go decides about quotes. JSON is short enough for one (json.go).
//
// The layout is that of the examples: two blanks of indentation, lists not
// indented below their key, at most one empty line in a row, containers in
// brackets on one line left there. Text is quoted where it has to be, and where
// other readers of YAML might take it for something else; expressions in {{ }}
// always are.
package format
