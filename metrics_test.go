package lockstep_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
)

// family is a metric: its type, its labels and, of a histogram, its highest bound.
type family struct {
	kind   string
	labels map[string]bool
	bound  float64
}

// readFamilies reads the text format of Prometheus.
func readFamilies(t *testing.T, text string) map[string]family {
	t.Helper()
	out := map[string]family{}
	label := regexp.MustCompile(`([a-z_]+)="(?:[^"\\]|\\.)*"`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(kind, " ")
			if _, twice := out[name]; twice {
				t.Errorf("%s is written twice", name)
			}
			out[name] = family{kind: kind, labels: map[string]bool{}}
		}
		if line == "" || line[0] == '#' {
			continue
		}
		name := line[:strings.IndexAny(line, "{ ")]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); out[base].kind == "histogram" {
				name = base
			}
		}
		of, ok := out[name]
		if !ok {
			t.Errorf("%s has no type", name)
			continue
		}
		for _, found := range label.FindAllStringSubmatch(line, -1) {
			if found[1] != "le" {
				of.labels[found[1]] = true
			} else if bound, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(found[0], `le="`), `"`), 64); err == nil && !math.IsInf(bound, 1) {
				of.bound = max(of.bound, bound)
				out[name] = of
			}
		}
	}
	return out
}

// quietSource is a source without events.
type quietSource struct{}

func (quietSource) Run(ctx context.Context, _ event.Ingest) error {
	<-ctx.Done()
	return nil
}
func (quietSource) Figures() event.SourceFigures { return event.SourceFigures{} }
func (quietSource) String() string               { return "quiet" }

// quietList is a list of revoked certificates without any.
type quietList struct{}

func (quietList) Revokes([]*x509.Certificate) bool { return false }
func (quietList) NextUpdate() time.Time            { return time.Now().Add(time.Hour) }

const observed = `
document: {dsl: 1.0.3, namespace: test, name: observed, version: 1.0.0}
do:
- nap: {wait: PT0.01S}
- again:
    try:
    - ask: {call: ask, with: {fail: "${ .fail }"}}
    catch: {retry: {delay: PT0.01S, limit: {attempt: {count: 2}}}}
`

const observedJob = `
name: observed-job
states: [{name: NEW}, {name: DONE}]
transitions: [{from: NEW, to: DONE, eligible: CLIENT}]
`

// busyServer is a server that did something of everything that is counted, and its metrics.
func busyServer(t *testing.T) map[string]family {
	t.Helper()
	ask := lockstep.Func("ask", func(_ context.Context, in struct{ Fail bool }) (int, error) {
		if in.Fail {
			return 0, errors.New("no answer")
		}
		return 1, nil
	})
	take := func(context.Context, event.Event) error { return nil }
	e := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "m.db"), ask, lockstep.Sink(take), lockstep.Lifecycle(take),
		lockstep.Notify(lockstep.Notice{Name: "hook", Send: take}), lockstep.Retention(time.Hour), lockstep.Source(quietSource{}),
		lockstep.RevokedCertificates(quietList{}), lockstep.Tracing(lockstep.Trace{URL: newServer(t, http.NotFoundHandler()), Ratio: 1}))
	deploy(e, lockstep.Text(observed))
	deploy(e, lockstep.Text(observedJob))
	for _, fail := range []bool{false, true} {
		id, err := e.Start(t.Context(), "test.observed", map[string]bool{"fail": fail})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	url := newServer(t, e.Handler())
	job, err := e.Start(t.Context(), "observed-job", map[string]string{"clientId": "c"})
	if err != nil {
		t.Fatal(err)
	}
	update, err := http.NewRequest("PUT", newServer(t, e.DeviceHandler())+"/api/wfx/v1/jobs/"+job+"/status", strings.NewReader(`{"state":"DONE"}`))
	if err != nil {
		t.Fatal(err)
	}
	update.Header.Set("Content-Type", "application/json")
	if a, err := http.DefaultClient.Do(update); err != nil || a.StatusCode != 200 {
		t.Fatal(a, err)
	}
	scrape(t, url) // so that a request is counted
	text := scrape(t, url)
	for _, want := range []string{
		`lockstep_instances_started_total{definition="test.observed"} 2`, `lockstep_instances_ended_total{definition="test.observed",status="failed"} 1`,
		`lockstep_instance_duration_seconds_count{definition="test.observed"} 2`, `lockstep_calls_total{function="ask",outcome="ok"} 1`,
		`lockstep_calls_total{function="ask",outcome="failed"} 3`, `lockstep_retries_total{definition="test.observed"} 2`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, some := range []string{"lockstep_timer_lag_seconds_count", "lockstep_commit_duration_seconds_count", "lockstep_store_bytes"} {
		if regexp.MustCompile(`(?m)^`+some+` [1-9]`).FindString(text) == "" {
			t.Errorf("no value of %s in\n%s", some, text)
		}
	}
	return readFamilies(t, text)
}

// TestMetricsPage compares docs/metrics.md, the board and the alert rules with the metrics of a server.
func TestMetricsPage(t *testing.T) {
	got := busyServer(t)
	page, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|")
	documented := map[string]family{}
	for _, found := range row.FindAllStringSubmatch(string(page), -1) {
		of := family{kind: found[2], labels: map[string]bool{}}
		for _, label := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(found[3], -1) {
			of.labels[label[1]] = true
		}
		documented[found[1]] = of
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want := documented[name]; want.kind != got[name].kind || !maps.Equal(want.labels, got[name].labels) {
			t.Errorf("/metrics has %s %v, docs/metrics.md has %v", name, got[name], want)
		}
		delete(documented, name)
	}
	if len(documented) > 0 {
		t.Errorf("docs/metrics.md has what /metrics has not: %v", slices.Sorted(maps.Keys(documented)))
	}

	used := 0
	for where, text := range expressions(t) {
		used++
		for _, wrong := range checkPromQL(text, got) {
			t.Errorf("%s: %s: %s", where, text, wrong)
		}
	}
	if used < 40 {
		t.Errorf("only %d expressions were found", used)
	}
	for text, want := range map[string]string{ // the check itself
		`rate(lockstep_calls_totl[5m])`:                                    "no metric lockstep_calls_totl",
		`sum by (fun) (lockstep_calls_total)`:                              "no label fun",
		`lockstep_calls_total{result="x"}`:                                 "no label result",
		`sum by (outcome) (rate(lockstep_commit_duration[5m]))`:            "no metric lockstep_commit_duration",
		`rate(lockstep_commit_duration_seconds[5m])`:                       "a histogram",
		`histogram_quantile(0.9, lockstep_timer_lag_seconds_sum)`:          "",
		`histogram_quantile(0.9, lockstep_timer_lag_seconds_bucket) > 60`:  "never above 60",
		`histogram_quantile(0.9, lockstep_timer_lag_seconds_bucket) >= 60`: "",
		`histogram_quantile(0.9, lockstep_timer_lag_seconds_bucket) > 30`:  "",
	} {
		if found := fmt.Sprint(checkPromQL(text, got)); !strings.Contains(found, want) || want == "" && found != "[]" {
			t.Errorf("%s: found %s, want %s", text, found, want)
		}
	}
}

// expressions are those of the board and of the alert rules.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	text, err := os.ReadFile("deploy/grafana/lockstep.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			out[fmt.Sprintf("panel %q, query %d", p.Title, i+1)] = strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
		}
	}
	if text, err = os.ReadFile("deploy/prometheus/alerts.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)- alert: (\w+)\n +expr: (.*)$`).FindAllStringSubmatch(string(text), -1) {
		out["alert "+found[1]] = found[2]
	}
	if rules := strings.Count(string(text), "- alert:"); rules == 0 || len(out) < rules {
		t.Errorf("%d alert rules", rules)
	}
	return out
}

// checkPromQL lists the metrics and labels of an expression that no server has.
func checkPromQL(text string, known map[string]family) (wrong []string) {
	text = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(text, `""`)
	text = regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(text, "")
	allowed := map[string]bool{"le": true, "instance": true, "job": true}
	metrics := regexp.MustCompile(`\b(lockstep_\w+|go_\w+|process_\w+|up)\b(\{[^}]*\})?`)
	for _, found := range metrics.FindAllStringSubmatch(text, -1) {
		name, labels := found[1], map[string]bool{}
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		of, ok := known[name]
		switch {
		case name == "up":
		case ok && of.kind == "histogram":
			wrong = append(wrong, name+" is a histogram")
		case ok:
			labels = of.labels
		case known[base].kind == "histogram":
			labels = known[base].labels
		default:
			wrong = append(wrong, "no metric "+name)
		}
		maps.Copy(allowed, labels)
		for _, label := range regexp.MustCompile(`(\w+)\s*[!=]`).FindAllStringSubmatch(found[2], -1) {
			if !labels[label[1]] && label[1] != "job" && label[1] != "instance" {
				wrong = append(wrong, "no label "+label[1])
			}
		}
	}
	for _, by := range regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		for label := range strings.SplitSeq(by[1], ",") {
			if label = strings.TrimSpace(label); !allowed[label] {
				wrong = append(wrong, "no label "+label)
			}
		}
	}
	if found := regexp.MustCompile(`^histogram_quantile\(.*\b(\w+)_bucket\b.*\) (>=?) ([\d.]+)$`).FindStringSubmatch(text); found != nil {
		// What is above all bounds counts as the highest one.
		limit, err := strconv.ParseFloat(found[3], 64)
		if bound := known[found[1]].bound; err != nil || limit > bound || limit == bound && found[2] == ">" {
			wrong = append(wrong, fmt.Sprintf("it is never above %g", bound))
		}
	}
	return wrong
}

// TestMetricsStayBounded: however many definitions there are, with a function and a workflow of jobs each, a label has a bounded
// number of values, nothing is left uncounted, and an answer does not grow.
func TestMetricsStayBounded(t *testing.T) {
	e := opened(t, "memory:", lockstep.Invoker(effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{} })))
	url := newServer(t, e.Handler())
	const all, labels = 10_000, 200
	size := 0
	for i := range all {
		deploy(e, lockstep.Text(fmt.Sprintf(`
document: {dsl: 1.0.3, namespace: test, name: d%d, version: 1.0.0}
do:
- ask: {call: f%d}
`, i, i)))
		id, err := e.Start(t.Context(), fmt.Sprintf("test.d%d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			deploy(e, lockstep.Text(fmt.Sprintf("name: j%d\nstates: [{name: S%d}, {name: T}]\ntransitions: [{from: S%d, to: T, eligible: CLIENT}]\n", i, i, i)))
			if _, err := e.Start(t.Context(), fmt.Sprintf("j%d", i), map[string]string{"clientId": "c"}); err != nil {
				t.Fatal(err)
			}
		}
		if i == all/10 {
			size = len(scrape(t, url))
		}
	}
	text := scrape(t, url)
	if len(text) > size*11/10 {
		t.Errorf("%d bytes with a tenth of the definitions, %d with all", size, len(text))
	}
	values, sums := map[string]map[string]bool{}, map[string]int64{}
	for _, found := range regexp.MustCompile(`(?m)^(lockstep_\w+)\{(.*)\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(found[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[found[1]] += n
		for _, label := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(found[2], -1) {
			of := found[1] + " " + label[1]
			if values[of] == nil {
				values[of] = map[string]bool{}
			}
			values[of][label[2]] = true
		}
	}
	for of, list := range values {
		if len(list) > labels+1 {
			t.Errorf("%s has %d values", of, len(list))
		}
	}
	for name, want := range map[string]int64{
		"lockstep_instances_started_total": all + all/10, "lockstep_instances_ended_total": all, "lockstep_calls_total": all,
		"lockstep_instances": all + all/10, "lockstep_jobs": all / 10,
	} {
		if sums[name] != want {
			t.Errorf("%s: %d in all, want %d", name, sums[name], want)
		}
	}
}

// scrape reads the metrics of a server.
func scrape(t *testing.T, url string) string {
	t.Helper()
	a, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 {
		t.Fatal(a.Status, err)
	}
	return string(text)
}
