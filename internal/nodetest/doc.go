// Package nodetest runs the real program as server processes, for tests and measurements of several
// servers on one store.
//
// A server ends with the process that started it, even if that is killed.
package nodetest
