// Package load reads definitions and catalogues of functions from files, for every command that needs them.
package load
