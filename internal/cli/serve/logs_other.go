//go:build !unix

package serve

import "io"

// toJournal: there is no journal here.
func toJournal(io.Writer) bool { return false }
