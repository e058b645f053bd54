// Package version tells which version of Lockstep this program is or contains.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// module is the path of this module.
const module = "github.com/lockstep-workflows/lockstep"

// Releases set these by -ldflags "-X github.com/lockstep-workflows/lockstep/internal/version.version=v1.2.3".
// By default they come from the build information: the version of the module, and the commit that Go recorded.
var (
	version  = ""
	revision = ""
	time     = "" // of the revision, RFC 3339
)

// Info is the version.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a working tree with changes
	Time     string `json:"time,omitempty"`     // of the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read reads the version from the build information of the program. Of a program that imports
// Lockstep it is the version of the module, without a revision.
func Read() Info {
	v := Info{Version: version, Revision: revision, Time: time, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	if build.Main.Path == module && revision == "" {
		v.readRevision(build.Settings)
	}
	for _, m := range append(build.Deps, &build.Main) {
		if m.Path == module && v.Version == "" {
			v.Version = m.Version
		}
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
	}
	return v
}

func (v *Info) readRevision(settings []debug.BuildSetting) {
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
}

// String is the version in one line, for people.
func (v Info) String() string {
	line := v.Version
	if v.Revision != "" {
		line += " " + v.Revision[:min(len(v.Revision), 12)]
		if v.Modified {
			line += " with changes"
		}
	}
	if day, _, ok := strings.Cut(v.Time, "T"); ok {
		line += " " + day
	}
	return fmt.Sprintf("%s (%s, %s)", line, v.Go, v.Platform)
}
