package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// nested is an object that nests so deep.
func nested(t testing.TB, depth int) expr.Value {
	return parse(t, strings.Repeat(`{"a":`, depth)+`1`+strings.Repeat(`}`, depth))
}

// TestAJobIsNotCreatedToFail: what its data cannot hold is refused, exactly.
func TestAJobIsNotCreatedToFail(t *testing.T) {
	h := boardHarness(t)
	base := h.newJob("base")
	created, refused := 0, 0
	for depth := 490; depth < expr.MaxDepth; depth++ {
		request := JobRequest{Workflow: "board", Client: "deep", Definition: nested(t, depth)}
		job, err := h.CreateJob(t.Context(), request)
		_, defined := h.DefineJob(t.Context(), base.ID, request.Definition, 0, "")
		var no *InputError
		switch {
		case err == nil:
			created++
			h.wantJob(job, `{"clientId":"deep","state":"NEW"}`, "NEW", "OPEN")
			h.move(job.ID, "CLIENT", `{"state":"PROGRESS"}`)
		case errors.As(err, &no) && strings.Contains(err.Error(), "/definition") && strings.Contains(err.Error(), "deep"):
			refused++
		default:
			t.Errorf("%d deep: %v", depth, err)
		}
		if (err == nil) != (defined == nil) {
			t.Errorf("%d deep: created %v, defined %v", depth, err, defined)
		}
		if _, _, many := h.CreateJobs(t.Context(), []JobRequest{{Workflow: "board", Client: "other"}, request}); (many == nil) != (err == nil) {
			t.Errorf("%d deep, of many: %v", depth, many)
		}
	}
	if n, err := h.CountJobs(t.Context(), store.Query{Client: "deep"}); created == 0 || refused == 0 || n != int64(2*created) || err != nil {
		t.Errorf("%d created, %d refused, %d there: %v", created, refused, n, err)
	}
}

func TestNumbersThatNobodyReads(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	for number, ok := range map[string]bool{
		"1e999": false, "-1e400": false, "1" + strings.Repeat("0", 400): false,
		"1e308": true, "123456789012345678901234567890": true, "1e-999": true, "1.5": true,
	} {
		v := parse(t, `{"a":[{"b/c":`+number+`}]}`)
		var no *InputError
		for what, err := range map[string]error{
			"create": second(h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "c", Definition: v})),
			"define": second(h.DefineJob(t.Context(), job.ID, v, 0, "")),
			"update": second(h.update(job.ID, "CLIENT", `{"state":"NEW","context":`+v.String()+`}`)),
		} {
			if ok != (err == nil) || !ok && (!errors.As(err, &no) || !strings.Contains(err.Error(), "/a/0/b~1c: the number is too large")) {
				t.Errorf("%s with %.40s: %v", what, number, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestIdleStatesAreBoundedInBytes: few large ones stay in memory, also where they became so.
func TestIdleStatesAreBoundedInBytes(t *testing.T) {
	h := boardHarness(t)
	large := expr.Object(expr.Member{Key: "a", Value: expr.String(strings.Repeat("x", liveBytes/8))})
	const n = 12
	for i := range n {
		job := h.newJob(fmt.Sprint(i))
		if i%2 == 0 {
			if _, err := h.DefineJob(t.Context(), job.ID, large, 0, ""); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "large", Definition: large}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, most int) {
		t.Helper()
		sum := 0
		for e := h.live.idle.Front(); e != nil; e = e.Next() {
			sum += e.Value.(*live).kept
		}
		if sum != h.live.bytes || sum > most {
			t.Errorf("%s: %d bytes are idle, counted as %d", what, sum, h.live.bytes)
		}
	}
	check("large ones", liveBytes)
	jobs, err := h.Jobs(t.Context(), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if _, err := h.DefineJob(t.Context(), job.ID, expr.EmptyObject, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	check("small ones", n/2*(liveBytes/8+smallPage)) // what a job was started with stays in its state
}

func TestNewestOfAHistory(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	text := strings.Repeat("x", 100_000)
	const n = 10
	for i := range n {
		if _, err := h.DefineJob(t.Context(), job.ID, expr.Object(expr.Member{Key: fmt.Sprint(i), Value: expr.String(text)}), 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	all := n + 1 // and the state that was passed through
	for _, c := range []struct {
		limit, bytes, want int
		cut                bool
	}{
		{100, math.MaxInt, all, false},
		{all, math.MaxInt, all, false},
		{all - 1, math.MaxInt, all - 1, true},
		{1, math.MaxInt, 1, true},
		{100, 700_000, 4, true},
		{100, 1, 1, true},
		{100, 10_000_000, all, false},
	} {
		_, list, cut, err := h.JobWithHistory(t.Context(), job.ID, c.limit, c.bytes)
		if err != nil || len(list) != c.want || cut != c.cut {
			t.Errorf("%d entries, %d bytes: %d entries, cut %t, %v; want %d, %t", c.limit, c.bytes, len(list), cut, err, c.want, c.cut)
		}
		if first, _ := list[0].Content.Get(fmt.Sprint(n - 2)); first.Str() != text {
			t.Errorf("%d entries, %d bytes: the first is not the newest", c.limit, c.bytes)
		}
	}
}

// TestTheDefinitionOfThen: also where the clock stands still, so that times tell nothing.
func TestTheDefinitionOfThen(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	want := []string{`{"task":"dev"}`}
	for i := range 5 {
		h.move(job.ID, "CLIENT", fmt.Sprintf(`{"state":"NEW","progress":%d}`, i))
		want = append(want, want[len(want)-1])
		if i%2 == 1 {
			want = append(want, fmt.Sprintf(`{"n":%d}`, i))
			if _, err := h.DefineJob(t.Context(), job.ID, parse(t, want[len(want)-1]), 0, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	feed, err := h.Feed(t.Context(), 0, 100)
	if err != nil || len(feed.Items) != len(want) {
		t.Fatalf("%d items: %v", len(feed.Items), err)
	}
	for i, item := range feed.Items {
		got, err := h.DefinitionAfter(t.Context(), job.ID, item.Records[len(item.Records)-1])
		if err != nil || got.String() != want[i] {
			t.Errorf("after item %d the definition was %s, want %s: %v", i, got, want[i], err)
		}
	}
}

// askedStore counts questions for states, and how many states they got.
type askedStore struct {
	store.Store
	questions, states int
}

func (s *askedStore) States(ctx context.Context, ids []string) ([]store.State, int, error) {
	list, n, err := s.Store.States(ctx, ids)
	s.questions, s.states = s.questions+1, s.states+len(list)
	return list, n, err
}

// TestJobsAreReadTogether: a list of jobs is as many questions for states as it is for rows, and one that
// stops reads no more than it has asked for.
func TestJobsAreReadTogether(t *testing.T) {
	asked := &askedStore{Store: newStore(t)}
	h := boardHarness(t, func(c *Config) { c.Store = asked })
	const n = 2*jobRows + 5
	for i := range n {
		h.newJob(fmt.Sprint(i))
	}
	h.live.init(0)
	for _, limit := range []int{0, 1, 7, jobRows, jobRows + 1, n, n + 9} {
		asked.questions, asked.states = 0, 0
		seen := 0
		err := h.EachJob(t.Context(), store.Query{Limit: limit}, func(j *Job) bool {
			if j.Instance.Job.Client != fmt.Sprint(seen) {
				t.Errorf("job %d is %s", seen, j.Instance.Job.Client)
			}
			seen++
			return true
		})
		want := min(cmp.Or(limit, n), n)
		if err != nil || seen != want || asked.states != want || asked.questions != (want+jobRows-1)/jobRows {
			t.Errorf("limit %d: %d jobs, %d states, %d questions: %v", limit, seen, asked.states, asked.questions, err)
		}
	}
	asked.states = 0
	if err := h.EachJob(t.Context(), store.Query{}, func(*Job) bool { return false }); err != nil || asked.states != jobRows {
		t.Errorf("%d states were read of which one was asked for: %v", asked.states, err)
	}
}

// TestLargeJobsAreReadAFewAtATime: so that a list of them does not need their memory.
func TestLargeJobsAreReadAFewAtATime(t *testing.T) {
	asked := &askedStore{Store: newStore(t)}
	h := boardHarness(t, func(c *Config) { c.Store = asked })
	large := expr.String(strings.Repeat("x", store.MaxStateBytes*2/5))
	for range 7 {
		if _, err := h.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "dev", Definition: large}); err != nil {
			t.Fatal(err)
		}
	}
	h.live.init(0)
	seen := 0
	err := h.EachJob(t.Context(), store.Query{}, func(j *Job) bool {
		if seen++; asked.states-seen > 1 || !expr.Equal(j.Content, large) {
			t.Errorf("%d states were read for %d jobs", asked.states, seen)
		}
		return true
	})
	if err != nil || seen != 7 {
		t.Errorf("%d jobs: %v", seen, err)
	}
}

// TestLargeInputsDoNotShareACommit: what the feed tells of one would be huge.
func TestLargeInputsDoNotShareACommit(t *testing.T) {
	l := &live{}
	for _, bytes := range []int{10, 10, maxPostedBytes, 2 * maxPostedBytes, 5, 5} {
		l.posted = append(l.posted, &posted{in: input{ask: &ask{bytes: bytes}}})
	}
	got := ""
	for len(l.posted) > 0 {
		got += fmt.Sprint(len(l.takePosted()), " ")
	}
	if got != "2 1 1 2 " {
		t.Errorf("the commits have %s", got)
	}
}

// TestAJobThatWasGivenUp takes no change of any kind, and says why.
func TestAJobThatWasGivenUp(t *testing.T) {
	h := boardHarness(t)
	job := h.newJob("dev")
	if err := h.Control(t.Context(), job.ID, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"status":     second(h.update(job.ID, "CLIENT", `{"state":"NEW"}`)),
		"definition": second(h.DefineJob(t.Context(), job.ID, expr.EmptyObject, 0, "")),
		"tags":       second(h.TagJob(t.Context(), job.ID, []string{"x"}, nil, 0)),
	} {
		var no *core.Rejected
		if !errors.As(err, &no) || no.Msg != "the instance is cancelled already" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestBulkIsBoundedInBytes: what clients and bytes make together is refused before the
// first job is created, and what is allowed is written in parts.
func TestBulkIsBoundedInBytes(t *testing.T) {
	h := boardHarness(t)
	definition := func(bytes int) expr.Value {
		return expr.Object(expr.Member{Key: "text", Value: expr.String(strings.Repeat("x", bytes))})
	}
	many := func(n, bytes int) (rs []JobRequest) {
		d := definition(bytes)
		for i := range n {
			rs = append(rs, JobRequest{Workflow: "board", Client: fmt.Sprint("c", i), Definition: d})
		}
		return rs
	}
	for _, rs := range [][]JobRequest{many(maxBulkBytes/(3<<20)+1, 3<<20), many(maxBulk, maxBulkBytes/maxBulk)} {
		_, _, err := h.CreateJobs(t.Context(), rs)
		var refused *InputError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "bulk-bytes") {
			t.Errorf("%d jobs: %v", len(rs), err)
		}
	}
	if n, err := h.CountJobs(t.Context(), store.Query{Definition: "board"}); n != 0 || err != nil {
		t.Errorf("%d jobs are there: %v", n, err)
	}
	rs := many(9, bulkPart/4)
	rs = append(rs, many(1, 2*bulkPart)...) // larger than a part
	rs[9].Client = "large"
	var ends []int
	for from := 0; from < len(rs); from = bulkEnd(rs, from) {
		ends = append(ends, bulkEnd(rs, from))
	}
	if !slices.Equal(ends, []int{3, 6, 9, 10}) {
		t.Errorf("the parts end at %v", ends)
	}
	jobs, _, err := h.CreateJobs(t.Context(), rs)
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range jobs {
		if job.Job.Client != rs[i].Client {
			t.Errorf("job %d is %q's", i, job.Job.Client)
		}
	}
}
