// Package remote connects commands to a server: contexts, flags, exit codes of problems, completion; and the commands
// ctx, node and open.
package remote
