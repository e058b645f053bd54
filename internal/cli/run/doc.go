// Package run is `lockstep run`: one definition, here and now, on an engine over a memory store.
package run
