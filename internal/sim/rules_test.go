package sim

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rule is something that must hold, and the planted bugs that break it.
type rule struct {
	name   string
	plants []string
}

// rules are those of reliability and security, each with at least one planted bug.
var rules = []rule{
	{"S1: each transition commits exactly once, history has no gap", []string{"memory keeps a step whose commit failed", "a commit at an old revision is taken", "revisions are not compared"}},
	{"S2: a call happens at least once, under one key", []string{"a call has another key each time", "a start does not read calls", "an answer is lost where it cannot be stored", "the answer to a call of another instance with the same id is taken"}},
	{"S2: and not before its decision is durable", []string{"a call is decided on before that is stored"}},
	{"S3: acknowledged is durable", []string{"commits are not synced", "only checkpoints are synced", "a commit that failed is acknowledged", "a commit is acknowledged before it is durable"}},
	{"S4: an event is taken once per source and id", []string{"an event that was here is taken again", "an event that came meanwhile is not looked for"}},
	{"S4: the same id with another content is refused", []string{"an event with a known id and another content is a duplicate"}},
	{"S5: the inputs of an instance have one order", []string{"messages are applied in the order of their times", "history goes back with the clock", "an answer overtakes what is in the inbox", "an event overtakes what is in the inbox", "an event overtakes others for the same listen", "what was on its way to a listen comes late to the next"}},
	{"S6: timers are never early", []string{"a timer is set too early", "timers of the next seconds fire with whatever comes"}},
	{"S6: timers always fire", []string{"a timer has no row", "recovery does not read timers"}},
	{"S7: updates of jobs are linearizable, a stale revision is refused", []string{"a stale revision is taken", "a job is deleted at an old revision", "an intervention at a revision follows what comes before it", "the later of two updates wins, whatever it had read"}},
	{"S8: one instance for each time of a schedule", []string{"the instance of a schedule has another id each time", "a schedule goes on before it started its instance"}},
	{"S9: the same inputs give the same bytes", []string{"calls are audited in any order", "counts are written in any order"}},
	{"S10: what can run ends, once faults do", []string{"what failed is never tried again", "calls that were another node's are not made", "new waits are not compared with kept events"}},

	{"elsewhere: a timer without its row", []string{"a timer has no row"}},
	{"elsewhere: a timer below the watermark of a scan", []string{"a timer before the last scan is not noticed", "a timer below the last scan is never read"}},
	{"elsewhere: a clock that steps back drops a timer", []string{"a clock that steps back drops timers"}},
	{"elsewhere: recovery does work that it failed to claim", []string{"a node makes calls that it has no claim to", "whoever takes over does not lock the node"}},
	{"elsewhere: an empty id", []string{"an event without an id is taken"}},
	{"elsewhere: one item strands its batch", []string{"what one request gets wrong fails its whole batch", "what was in memory of instances stays when a transaction is undone", "what the database refuses fails its whole batch", "one failure sets an instance aside"}},
	{"elsewhere: a zombie renews its successor's lease", []string{"a lease counts from its answer", "a node that is not heard of keeps what it has", "parts that are given back are taken from whoever has them"}},
	{"elsewhere: two instances from one start during a failover", []string{"the same key starts another instance each time"}},
	{"elsewhere: cron fires thrice", []string{"the instance of a schedule has another id each time", "a schedule moves from anywhere"}},
	{"elsewhere: correlation that is not idempotent", []string{"an event that an instance got starts another", "nobody got an event"}},
	{"elsewhere: an ambiguous COMMIT is made again blindly", []string{"a commit whose answer is lost is made again", "a transaction whose answer is lost is made again"}},
	{"elsewhere: an instance without history after an oversized input", []string{"an instance whose input is expensive is created without its start"}},
	{"elsewhere: acknowledged before fsync", []string{"commits are not synced", "a sync that failed is taken for one that did not"}},
	{"elsewhere: times are compared instead of revisions", []string{"the later of two updates wins, whatever it had read"}},
	{"elsewhere: the database is locked", []string{"writers do not wait for one another"}},

	{"PostgreSQL: READ COMMITTED and compare-and-set", []string{"a transaction sees what was there when it began", "revisions are not compared", "rows are not locked"}},
	{"PostgreSQL: RETURNING names the winners", []string{"everybody has won"}},
	{"PostgreSQL: an ambiguous COMMIT is resolved by reading back", []string{"a commit whose answer is lost is made again", "a transaction that comes late commits after it was called undone"}},
	{"PostgreSQL: scans miss nothing that is below what they saw", []string{"a timer below the last scan is never read"}},
	{"PostgreSQL: no NOTIFY inside of commits", []string{"a commit notifies"}},
	{"PostgreSQL: polling alone is enough", []string{"a node that hears nothing looks for nothing"}},
	{"PostgreSQL: works behind a pooler", []string{"statements are prepared for a session"}},
	{"PostgreSQL: short transactions", []string{"a client that stops holds its locks"}},
	{"PostgreSQL: leases keep others from calling", []string{"a call begins though the lease is over", "a node that is not heard of keeps what it has", "calls are not handed over"}},
	{"PostgreSQL: an epoch never goes back", []string{"an epoch does not grow"}},
	{"PostgreSQL: the clock is the database's", []string{"a node goes by its own clock"}},
	{"PostgreSQL: streams skip nothing that commits late", []string{"positions are given out by several at a time", "a commit takes no lock"}},
	{"SQLite: streams skip nothing", []string{"who follows the feed skips what comes next"}},
	{"PostgreSQL: plans are pinned", []string{"the plan of a commit follows the statistics", "messages of a deleted instance are looked for in all inboxes"}},
	{"SQLite: WAL and synchronous=FULL", []string{"commits are not synced", "only checkpoints are synced"}},
	{"SQLite: one writer", []string{"two processes write to one file"}},
	{"SQLite: no library with known faults", []string{"any library will do"}},

	{"classic: the revision check is skipped", []string{"a commit at an old revision is taken", "revisions are not compared"}},
	{"classic: an fsync is dropped", []string{"commits are not synced"}},
	{"classic: a lease is reset", []string{"an epoch does not grow"}},
	{"classic: a scan begins at a watermark", []string{"a timer before the last scan is not noticed", "a timer below the last scan is never read"}},
	{"classic: losers are not cancelled", []string{"losers of a join are not cancelled"}},
	{"classic: a retry has stale data", []string{"a retry goes on with the data of the failed attempt", "a retry keeps the deadline of the attempt before"}},

	{"bugs that survived all tests when a review planted them", []string{
		"a retry keeps the deadline of the attempt before", "a cancelled instance stays paused", "jitter only adds", "an early event is not compared again", "retention deletes too early",
		"messages are applied in the order of their times", "the case of a correlation value does not count",
	}},

	{"security: no listener for others without authentication", []string{"anybody may listen anywhere"}},
	{"security: identity once, for each route, denied by default", []string{"a viewer may do everything", "a route without a role of its own is open to readers", "a body is read before its sender is known"}},
	{"security: a device acts only for its own client", []string{"a device updates jobs of others", "a device reads jobs of others", "a device says who it is"}},
	{"security: the dialled address is checked, whatever names and redirects say", []string{"only addresses written as such are checked, not what names stand for", "a redirect reaches other ports of an allowed address", "a redirect from https to http is followed", "a provider's metadata can be read"}},
	{"security: credentials never cross hosts", []string{"credentials follow to another port", "a call with a secret in its body follows to another host", "credentials of an authentication follow to another host", "a request for a token is redirected"}},
	{"security: the proxy of the environment is ignored", []string{"the proxy of the environment is used"}},
	{"security: file: only from the bundle", []string{"a definition reads files outside of its folder"}},
	{"security: data never chooses scheme or host", []string{"data chooses the host of a call", "an address that data chose need not be on the allow-list"}},
	{"security: expressions have budgets, deep nesting is refused", []string{"matches of an expression cost nothing", "values nest twice as deep"}},
	{"security: secrets are redacted by value", []string{"answers tell secrets", "messages about secrets quote them", "text that looks like a sealed secret is opened", "a state is stored with its secrets", "the history tells secrets", "another workflow gets a secret", "an instance without a secret is set aside", "a secret in another form is told", "a message repeats the password of a store"}},
	{"security: the page: no inline script, Origin checked, cookies closed", []string{"the page may have inline scripts", "pages of other sites may change something", "scripts can read the session", "other sites send the session along"}},
	{"security: bodies have limits and strict content types, queries bind parameters", []string{"bodies have no limit", "any content type is taken", "a text of a query is part of the statement"}},
}

var (
	orderedPlant = regexp.MustCompile(`(?m)^\t\{"([^"]+)", .*\[\]string\{(.*)\}\},$`)
	rulesText    = regexp.MustCompile("(?s)(\n\\| rule \\| broken by \\(found by\\) \\|\n\\|---\\|---\\|\n)(.*?)(\n\n|\n$|$)")
)

// orderedPlants are the bugs that orders of concurrent writes to PostgreSQL find, with those orders.
func orderedPlants(t *testing.T) map[string]string {
	text, err := os.ReadFile("../store/postgres/interleave_plant_test.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range orderedPlant.FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = "orders of " + strings.ReplaceAll(m[2], `"`, "")
	}
	return out
}

// ruleRows are the rows of the table of rules; table says what finds which bug.
func ruleRows(t *testing.T, table map[string]string) (rows []string) {
	ordered := orderedPlants(t)
	for _, r := range rules {
		var cells []string
		for _, p := range r.plants {
			by := table[p]
			if by == "" {
				by = ordered[p]
			}
			if by == "" {
				t.Errorf("%s: %q is no planted bug", r.name, p)
			}
			cells = append(cells, fmt.Sprintf("%s (%s)", p, by))
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", r.name, strings.Join(cells, " · ")))
	}
	return rows
}

// TestRules: every rule has a planted bug, and the table in README.md says so.
func TestRules(t *testing.T) {
	rows := ruleRows(t, readTable(t))
	for _, p := range slices.Concat(plantsRules, plantsPostgres) {
		if !slices.ContainsFunc(rules, func(r rule) bool { return slices.Contains(r.plants, p.name) }) {
			t.Errorf("%q breaks no rule", p.name)
		}
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	m := rulesText.FindSubmatch(text)
	if m == nil || !slices.Equal(strings.Split(string(m[2]), "\n"), rows) {
		t.Error("the table of rules in README.md is another: go test ./internal/sim -run TestPlantedBugs/none -sim.update")
	}
}
