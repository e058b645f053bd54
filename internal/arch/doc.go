// Package arch checks the shape of the code: that packages import only what
// ARCHITECTURE.md allows, that the pure packages stay pure, and a few rules of
// layout that keep the tree readable.
//
// The table in ARCHITECTURE.md is the only place that says which packages exist and what each may
// import; the rules read it from there. A rule is a function from a loaded module to the violations
// that it found. So the tests can run the same rules over the repository, which must have none, and
// over tiny modules in memory, each of which breaks one rule.
//
//	table_test.go      the table of packages
//	module_test.go     reading and parsing a module
//	typecheck_test.go  types of the pure packages
//	rules_test.go      the list of rules and of named exceptions
//	imports_test.go    which package may import which
//	purity_test.go     no clock, no randomness, no order of maps in the pure packages
//	layout_test.go     package comments, names, file sizes, unfinished work
//	limits_test.go     every limit is documented by its name
//	sql_test.go        every INSERT names its columns
//	tests_test.go      no sleeping and no skipped tests
//	fixtures_test.go   tiny modules, each of which breaks one rule
package arch
