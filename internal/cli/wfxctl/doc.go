// Package wfxctl implements the command line of wfxctl 0.6.
package wfxctl
