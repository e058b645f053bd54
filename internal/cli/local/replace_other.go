//go:build !unix

package local

import (
	"io/fs"
	"os"
)

func hasOtherNames(fs.FileInfo) bool { return false }

func keepOwner(*os.File, fs.FileInfo) error { return nil }
