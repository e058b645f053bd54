//go:build !unix

package secrets

// permissions says that the mode of a file tells who can read it.
const permissions = false
