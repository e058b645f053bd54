package main

import (
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

func TestJobRetention(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]engine.JobRetention{
		"=30d":                      {After: 30 * day},
		"firmware=1h30m":            {Workflow: "firmware", After: 90 * time.Minute},
		":DONE=1w":                  {States: []string{"DONE"}, After: 7 * day},
		"firmware:DONE,FAILED=2d":   {Workflow: "firmware", States: []string{"DONE", "FAILED"}, After: 2 * day},
		"wfx.workflow.kanban=3600s": {Workflow: "wfx.workflow.kanban", After: time.Hour},
	} {
		got, err := parseRetention(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "30d", "firmware", "=", "=30", "=-1d", "firmware:=1d", ":A,,B=1d", "=0s", "=101000d"} {
		if got, err := parseRetention(text); err == nil {
			t.Errorf("%s: was taken as %+v", text, got)
		}
	}
}

func TestRetentionAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "1d12h": 36 * time.Hour, "2w": 14 * 24 * time.Hour, "36500d": engine.MaxRetention,
	} {
		f := retentionFlags{instances: text, feed: text}
		if got, err := f.use(); err != nil || got.instances != want || got.feed != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	if got, err := (&retentionFlags{}).use(); err != nil || got.instances != 0 || got.feed != 0 || got.jobs != nil {
		t.Errorf("nothing: got %+v, %v", got, err)
	}
	for text, says := range map[string]string{
		"-1d": "negative", "0s": "longer than nothing", "0d00h": "longer than nothing", "90": "a number with a unit", "soon": "a number with a unit",
		"90days": "a number with a unit", "36501d": "100 years (limit retention)", "99999999999999999999w": "limit retention", "300000w": "limit retention", "d": "a number with a unit",
		" ": "a number with a unit", "1.5d": "a number with a unit",
	} {
		for flag, f := range map[string]*retentionFlags{"--retention": {instances: text}, "--feed-retention": {feed: text}} {
			got, err := f.use()
			if err == nil || !strings.HasPrefix(err.Error(), flag+" ") || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %q: got %+v, %v; want %q", flag, text, got, err, says)
			}
		}
	}
}

// metric PATTERN waits until the server's figures are so.
func metric(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: metric PATTERN")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for text := []byte(nil); !pattern.Match(text); {
		answer, err := http.Get(ts.Getenv("LOCKSTEP_URL") + "/metrics")
		ts.Check(err)
		text, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		ts.Check(err)
	}
}
