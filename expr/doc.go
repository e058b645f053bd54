// Package expr holds what every expression language shares: JSON values, the
// small interfaces a language implements, and the budgets it runs under.
//
// A [Value] is immutable. Everything that "changes" one returns a new value and
// shares what did not change, so that copying an instance's data costs a few
// words, and two frames that hold the same data hold the same memory.
// Object members are kept sorted by key: nothing here depends on map order, and
// the same value always has the same bytes.
//
// A language (expr/jsonpath, expr/jsonschema, …) is a [Compiler]: it turns source
// text into a [Program] once, and the core evaluates the program under a [Budget].
package expr
