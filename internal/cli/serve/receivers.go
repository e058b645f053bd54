package serve

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// behindLong is how long a receiver may be behind before doctor says so.
const behindLong = time.Minute

// behindSample is a sample of a metric that says how far a receiver is behind.
var behindSample = regexp.MustCompile(`(?m)^lockstep_(webhook|spans)_behind_seconds(?:\{webhook="([^"]*)"\})? ([0-9.e+]+)$`)

// receivers lists the receivers of a server that do not accept what it sends, from its metrics.
func receivers(metrics string) (out []store.Problem) {
	for _, found := range behindSample.FindAllStringSubmatch(metrics, -1) {
		seconds, err := strconv.ParseFloat(found[3], 64)
		behind := time.Duration(seconds * float64(time.Second)).Round(time.Second)
		if err != nil || behind < behindLong {
			continue
		}
		where, what := "webhook "+found[2], "notices"
		if found[1] == "spans" {
			where, what = "collector of traces", "spans"
		}
		out = append(out, store.Problem{Where: where, Text: fmt.Sprintf("it has not accepted %s for %s; they are kept and sent again", what, behind)})
	}
	return out
}
