package query

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var now = core.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// sample is an instance that failed an hour and a half ago.
func sample() *store.Instance {
	labels, err := expr.ParseJSON([]byte(`{"region":"eu","tiers":["gold","vip"],"n":7}`))
	if err != nil {
		panic(err)
	}
	return &store.Instance{
		ID: "abc-1", Name: "Order 7", Key: "k7", Keys: []core.Key{{Name: "order", Value: "A-7"}}, Indexed: true, Definition: "order", Version: "1.3", Status: core.Failed, Active: []string{"Charge"}, Parent: "p1",
		Created: now - core.Time(90*time.Minute), Updated: now - core.Time(10*time.Minute),
		Fault: &core.Fault{Name: "Timeout", Detail: "The bank took too long"}, Labels: labels,
	}
}

// sampleJob is a job that was done a minute ago.
func sampleJob() *store.Instance {
	return &store.Instance{
		ID: "job-1", Definition: "update", Version: "1", Status: core.Completed, Job: store.Job{Client: "device7", State: "DONE", Group: "CLOSED"},
		Created: now - core.Time(48*time.Hour), Updated: now - core.Time(time.Minute), Labels: expr.EmptyObject,
	}
}

// TestSelectsJobs is TestSelects for a job.
func TestSelectsJobs(t *testing.T) {
	for _, c := range []struct {
		text  string
		fits  bool
		exact bool
	}{
		{"is:job", true, true},
		{"-is:job", false, false},
		{"client:device7", true, true},
		{"client:device8", false, true},
		{"-client:device8", true, false},
		{"client:device7,device8", true, false},
		{"client:device7 client:device8", false, false},
		{"group:CLOSED", true, true},
		{"group:OPEN,CLOSED", true, true},
		{"group:OPEN", false, true},
		{"-group:OPEN", true, false},
		{"group:CLOSED group:OPEN", false, false},
		{"state:DONE", true, true},
		{"state:NEW,DONE", true, false},
		{"is:job state:DONE client:device7 group:CLOSED def:update", true, true},
		{"text:device", true, false},
		{"text:done", true, false},
		{"is:root", true, true},
		{"is:root is:job", true, true},
		{"is:root,job", true, false},
	} {
		selects(t, c.text, sampleJob(), c.fits, c.exact)
	}
}

// TestSelects says of each filter whether it fits the sample, and whether a store alone
// can answer it; what a store is asked must never leave out what fits.
func TestSelects(t *testing.T) {
	for _, c := range []struct {
		text  string
		fits  bool
		exact bool
	}{
		{"", true, true},
		{"status:failed", true, true},
		{"status:failed,cancelled", true, true},
		{"status:completed", false, true},
		{"-status:failed", false, true},
		{"-status:completed,running", true, true},
		{"status:failed -status:failed", false, false},
		{"status:failed,running -status:running", true, true},
		{"def:order", true, true},
		{"def:order@1.3", true, true},
		{"def:order@1.4", false, true},
		{"-def:order", false, false},
		{"def:order,other", true, false},
		{"def:order def:other", false, false},
		{"state:Charge", true, true},
		{"state:Ship", false, true},
		{"error:Timeout", true, true},
		{"-error:Timeout", false, false},
		{"age:>1h", true, true},
		{"age:>2h", false, true},
		{"age:<2h", true, true},
		{"age:<1h30m1s", true, true},
		{"-age:>1h", false, true},
		{"age:>1h age:<2h", true, true},
		{"idle:<11m", true, true},
		{"idle:>11m", false, true},
		{"age:>1w", false, true},
		{"created:>2026-03-01", true, true},
		{"created:>2026-03-02", false, true},
		{"created:<2026-03-02", true, true},
		{"created:<2026-03-01", false, true},
		{"created:2026-03-01", true, true},
		{"created:2026-02-28", false, true},
		{"-created:2026-03-01", false, false},
		{"-created:<2026-03-01", true, true},
		{"created:>2026-03-01T10:30:00Z", true, true},
		{"created:<2026-03-01T10:30:00Z", false, true},
		{"created:>2026-03-01T10:30:00.000000001Z", false, true},
		{"created:>2026-03-01T11:30:00+01:00", true, true},
		{"created:>2026-02-01 created:<2026-03-01", false, true},
		{"created:>2026-02-01 age:>1h created:<2026-04-01", true, true},
		{"created:>1970-01-01", true, false},
		{"updated:>2026-03-01T11:50:00Z", true, true},
		{"updated:<2026-03-01T11:50:00Z", false, true},
		{"is:job", false, true},
		{"-is:job", true, false},
		{"client:x", false, true},
		{"-client:x", true, false},
		{"-group:OPEN", true, false},
		{"tag:region=eu", true, true},
		{"tag:tiers=vip", true, true},
		{"tag:n=7", true, true},
		{"tag:eu", true, false},
		{"tag:region", true, false},
		{"tag:us", false, false},
		{"-tag:region=eu", false, false},
		{"id:abc", true, false},
		{"id:bc", false, false},
		{"parent:p1", true, true},
		{"text:bank", true, false},
		{"-text:bank", false, false},
		{`text:"took too"`, true, false},
		{`text:"took two"`, false, false},
		{"text:CHARGE", true, false},
		{"text:rder", true, false},
		{"text:VIP", true, false},
		{"region:eu", true, true},
		{"region:us", false, true},
		{"region:eu,us", true, false},
		{"-region:eu", false, false},
		{"tiers:vip region:eu", true, true},
		{"n:7", true, true},
		{"stage:7", false, true},
		{"label:region=eu", true, true},
		{"label:status=eu", false, true},
		{`name:"Order 7"`, true, true},
		{"name:Order", false, true},
		{`-name:"Order 7"`, false, false},
		{`label:name="Order 7"`, true, false},
		{"key:k7", true, true},
		{"key:A-7", true, true},
		{"key:A-7,x", true, false},
		{"key:order", false, true},
		{"abc-1", true, true},
		{`"Order 7"`, true, true},
		{"A-7", true, true},
		{"eu", true, true},
		{"eu vip", true, false},
		{"-eu", false, false},
		{"bank", false, true},
		{"is:root", false, true},
		{"-is:root", true, false},
		{"is:root,job", false, false},
		{"  status:failed   def:order  ", true, true},
	} {
		selects(t, c.text, sample(), c.fits, c.exact)
	}
}

func selects(t *testing.T, text string, in *store.Instance, fits, exact bool) {
	t.Helper()
	f, err := Parse(text, now)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if got := f.Selects(in); got != fits {
		t.Errorf("%s: fits %t, want %t", text, got, fits)
	}
	if f.Exact != exact {
		t.Errorf("%s: exact %t, want %t", text, f.Exact, exact)
	}
	stored := f.Query.Selects(in)
	if fits && !stored || f.Exact && stored != fits {
		t.Errorf("%s: the store's part says %t, the whole %t", text, stored, fits)
	}
}

// TestErrors: each tells the column and what to write instead.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		says   string
	}{
		{"stauts:failed", 1, `did you mean "status"?`},
		{"def:x Status:red", 7, "A label of that name is label:Status=red"},
		{"-stauts:failed", 2, `did you mean "status"?`},
		{"status:faild", 8, `did you mean "failed"?`},
		{"status:", 8, "needs a value"},
		{"status:failed,", 8, "needs a value"},
		{"é status:x", 10, "the statuses are"},
		{"age:1h", 5, "age:>1h"},
		{"age:>1x", 5, "is not an age"},
		{"age:>", 5, "is not an age"},
		{"age:>99999999999999999999w", 5, "is not an age"},
		{"age:>1h,<2h", 5, "takes one value"},
		{"created:yesterday", 9, "created:>2026-01-31"},
		{"created:2026-03-01T10:30:00Z", 9, "is not a time"},
		{"created:>2026-13-01", 9, "is not a time"},
		{"updated:>9999-01-01", 9, "is not a time"},
		{"updated:>", 9, "is not a time"},
		{"created:>2026-01-01,<2026-02-01", 9, "takes one value"},
		{"is:robot", 4, "write is:root or is:job"},
		{"tag:=x", 5, "lacks the name"},
		{`def:"x`, 5, "not closed"},
		{"a -", 3, "followed by a word"},
		{strings.Repeat("a ", MaxWords+1), 2*MaxWords + 1, "limit filter-words"},
		{strings.Repeat("a", MaxBytes+1), 1, "limit filter-bytes"},
		{"\xff", 1, "not UTF-8"},
	} {
		_, err := Parse(c.text, now)
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%.40q: %v, want an error", c.text, err)
			continue
		}
		if bad.Column != c.column || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want column %d and %q", c.text, err, c.column, c.says)
		}
	}
}

// FuzzParse: no text makes it panic, and what a store is asked never leaves out what fits.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"status:failed,running -def:order@1 age:>1h", `"a b" tag:x=y`, "is:job -client:c group:A,B", "is:root order:A-1 name:x key:y z -text:a", "created:>2026-01-01 -updated:2026-02-03", "-", `def:"`, "age:<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := Parse(text, now)
		if err != nil {
			return
		}
		for _, in := range []*store.Instance{sample(), sampleJob()} {
			fits, stored := filter.Selects(in), filter.Query.Selects(in)
			if fits && !stored || filter.Exact && stored != fits {
				t.Errorf("%q: the store's part says %t, the whole %t", text, stored, fits)
			}
		}
	})
}

// TestFiltersHaveEveryKey: the filters whose cost stores are tested with have every key of the grammar, also negated if it can
// be.
func TestFiltersHaveEveryKey(t *testing.T) {
	text, err := os.ReadFile("testdata/filters.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line, _, _ = strings.Cut(strings.TrimSpace(line), " => "); strings.HasPrefix(line, "#") {
			continue
		}
		f, err := Parse(line, now)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		for _, w := range f.words {
			seen[w.key] = true
		}
	}
	for _, k := range keyNames() {
		if !seen[k] {
			t.Errorf("no filter has %s:", k)
		}
	}
}

// TestBrowses: a filter that names something by which instances are found lists children, too.
func TestBrowses(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "status:failed def:order age:>1h": true,
		"order:A-7": false, "A-7": false, "name:x": false, "parent:p1": false, "id:a": false, "key:k": false, "is:job": false, "status:failed -is:root": false,
	} {
		f, err := Parse(text, now)
		if err != nil || f.Browses() != want {
			t.Errorf("%q: %t, %v", text, !want, err)
		}
	}
}
