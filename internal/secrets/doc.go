// Package secrets has the secrets of an operator: values by name that workflows use and nobody
// reads.
//
// A [Store] combines sources: files, folders with a file for each secret, and variables of the
// environment. Files and folders are read again when they change. A [Snapshot] is what they say at
// one moment. Package redact keeps them out of what is stored and told.
package secrets
