// Package cli has what the commands of lockstep share: streams and exit codes, output formats, flags, settings.
package cli
