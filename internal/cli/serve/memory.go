package serve

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// minMemory is the minimum memory limit.
const minMemory = 64 << 20

// memoryLimit reads --memory-limit: a size in bytes, or with a unit.
func memoryLimit(text string) (int64, error) {
	switch text {
	case "none":
		return 0, nil
	case "auto", "":
		return admit.DefaultLimit(), nil
	}
	n, ok := parseSize(text)
	if !ok {
		return 0, cli.Usagef("--memory-limit %q must be a size such as 512MiB or 2GiB, none or auto", text)
	}
	if n < minMemory {
		return 0, cli.Usagef("--memory-limit %s is less than %d MiB", text, minMemory>>20)
	}
	return n, nil
}

// parseSize reads a size in bytes, or with a unit.
func parseSize(text string) (n int64, ok bool) {
	digits, unit := text, int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			digits, unit = strings.TrimSpace(rest), n
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
