//go:build unix

package docs

import (
	"os"
	"strings"
	"testing"
)

// Why a command of a block of sh is not run.
const (
	needsRelease  = "it needs files of a release, which make release-check builds, unpacks and starts"
	needsNetwork  = "it needs services on the network"
	needsFiles    = "it needs certificates, tokens or secrets of the operator"
	needsDocker   = "it needs a container engine"
	isBuild       = "it builds or tests the checkout, which the tests are part of"
	takesMinutes  = "it measures for minutes, on a machine where nothing else runs"
	needsSeveral  = "it needs several terminals"
	hasNoEnd      = "it has no end"
	isOtherServer = "it is another server than the one that the page goes on with"
)

// notRun are the commands of blocks of sh, by page, and why they are not run.
var notRun = map[string]map[string]string{
	"README.md": {
		"go install github.com/lockstep-workflows/lockstep/cmd/lockstep@latest": needsNetwork,
		"sudo dpkg -i lockstep_*_amd64.deb":                                     needsRelease,
		"tar -xzf lockstep_*_linux_amd64.tar.gz":                                needsRelease,
		"docker load < lockstep_*_amd64_image.tar":                              needsDocker,
		"make build": isBuild,
		"make test":  isBuild,
	},
	"deploy/README.md": {"docker run": needsDocker},
	"docs/cli.md":      {"lockstep run order.yaml --outbound-allow": needsNetwork},
	"docs/events.md":   {"lockstep serve --event-source": needsNetwork},
	"docs/jobs.md": {
		"curl -N":                        hasNoEnd,
		"lockstep serve --job-retention": isOtherServer,
	},
	"docs/nodes.md": {
		"lockstep serve --store": needsSeveral,
		"lockstep node ls":       needsSeveral,
	},
	"docs/observability.md": {"lockstep serve --webhook": needsFiles},
	"docs/performance.md": {
		"make bench":       takesMinutes,
		"go run ./bench -": takesMinutes,
	},
	"docs/server.md": {
		"lockstep serve --secrets":    needsFiles,
		"lockstep serve --event-sink": needsNetwork,
		"lockstep serve --north":      needsFiles,
		"lockstep serve --south":      needsFiles,
	},
	"examples/README.md": {"go test ./examples -update": isBuild},
	"examples/embed/README.md": {
		"cd examples/embed":  isBuild,
		"go run . orders 20": isBuild,
	},
}

// TestNotRun: every command that is not run has a reason, and every reason a command.
func TestNotRun(t *testing.T) {
	for _, file := range pages(t) {
		p := readPage(t, file)
		known, seen := notRun[p.path], map[string]bool{}
		for _, s := range p.steps {
			if !s.elsewhere {
				continue
			}
			found := false
			for command := range known {
				if strings.HasPrefix(s.command, command) {
					found, seen[command] = true, true
				}
			}
			if !found {
				t.Errorf("%s:%d: %s: make it a block of console, which is run, or say in notRun why that cannot be", p.path, s.line, s.command)
			}
		}
		for command := range known {
			if !seen[command] {
				t.Errorf("notRun: %s has no command %q in a block of sh", p.path, command)
			}
		}
	}
}

// TestInstallLines: what the first page says to install is what there is: the program's package, and the files that package
// release makes.
func TestInstallLines(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(string(module), "module "), "\n")
	source := ""
	for _, file := range []string{"main.go", "debian.go", "image.go"} {
		text, err := os.ReadFile("../release/" + file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	if _, err := os.Stat("../../cmd/lockstep/main.go"); err != nil {
		t.Error(err)
	}
	for command := range notRun["README.md"] {
		words := strings.Fields(command)
		switch what := words[len(words)-1]; {
		case words[0] == "go" && what != name+"/cmd/lockstep@latest":
			t.Errorf("%s: the program is %s/cmd/lockstep", command, name)
		case strings.HasPrefix(what, "lockstep_*"):
			made := strings.NewReplacer("_*", "_%s", "linux", "%s", "amd64", "%s", ".tar.gz", `"`).Replace(what) // as it is put together
			if !strings.Contains(source, made) {
				t.Errorf("%s: package release makes no %s", command, made)
			}
		}
	}
}
