package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by -ldflags "-X main.version=v1.2.3"; else it is the module's.
var version = ""

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a working tree with changes
	Time     string `json:"time,omitempty"`     // of the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  lockstep version\n  lockstep version -o json",
		Args:    atMost(0),
	}
	output := outputFlag(cmd, "format", "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		v := readVersion()
		if output.value == "json" {
			return json.NewEncoder(a.out).Encode(v)
		}
		line := "lockstep " + v.Version
		if v.Revision != "" {
			line += " " + v.Revision[:min(len(v.Revision), 12)]
			if v.Modified {
				line += " with changes"
			}
		}
		_, err := fmt.Fprintf(a.out, "%s (%s, %s)\n", line, v.Go, v.Platform)
		return err
	}
	return cmd
}
