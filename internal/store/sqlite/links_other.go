//go:build !unix && !windows

package sqlite

import "os"

func links(string, os.FileInfo) int { return 1 }

func readable(os.FileInfo) bool { return false }
