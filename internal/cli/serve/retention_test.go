package serve

import (
	"reflect"
	"strings"
	"testing"
	"time"

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
		if got, err := useAge("retention", text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
		f := retentionFlags{instances: text, feed: text, rules: []string{"=" + text}}
		if got, err := f.use(); err != nil || len(got) != 3 {
			t.Errorf("%s: %d options, %v", text, len(got), err)
		}
	}
	if got, err := (&retentionFlags{}).use(); err != nil || len(got) != 0 {
		t.Errorf("nothing: %d options, %v", len(got), err)
	}
	for text, says := range map[string]string{
		"-1d": "negative", "0s": "must be positive", "0d00h": "must be positive", "90": "a number with a unit", "soon": "a number with a unit",
		"90days": "a number with a unit", "36501d": "100 years (limit retention)", "99999999999999999999w": "limit retention", "300000w": "limit retention", "d": "a number with a unit",
		" ": "a number with a unit", "1.5d": "a number with a unit",
	} {
		for flag, f := range map[string]*retentionFlags{"--retention": {instances: text}, "--feed-retention": {feed: text}} {
			_, err := f.use()
			if err == nil || !strings.HasPrefix(err.Error(), flag+" ") || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %q: %v; want %q", flag, text, err, says)
			}
		}
	}
}
