package main

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/engine"
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
	for _, text := range []string{"", "30d", "firmware", "=", "=30", "=-1d", "firmware:=1d", ":A,,B=1d", "=0s"} {
		if got, err := parseRetention(text); err == nil {
			t.Errorf("%s: was taken as %+v", text, got)
		}
	}
}
