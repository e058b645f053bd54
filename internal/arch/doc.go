// Package arch checks the shape of the code: that packages import only what
// ARCHITECTURE.md allows, that the pure packages stay pure, and a few rules of
// layout that keep the tree readable.
//
// The table in ARCHITECTURE.md is the only place that says which packages exist
// and what each may import; the rules read it from there. A rule is a function
// from a loaded [Module] to what it found wrong, so the tests can run the same
// rules over the repository, where nothing may be wrong, and over tiny modules
// in memory, each of which breaks one rule.
//
//	table.go     the table of packages
//	module.go    reading and parsing a module
//	typecheck.go types of the pure packages
//	rules.go     the list of rules and of named exceptions
//	imports.go   who may import whom
//	purity.go    no clock, no randomness, no order of maps in the pure packages
//	layout.go    package comments, names, file sizes, unfinished work
//	limits.go    every limit is documented by its name
//	tests.go     no sleeping and no skipped tests
package arch
