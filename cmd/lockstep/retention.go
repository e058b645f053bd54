package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/query"
)

// retentionFlags say what is deleted by itself.
type retentionFlags struct {
	rules           []string
	instances, feed string
}

// retention is what they say; 0 and none: for ever.
type retention struct {
	jobs            []engine.JobRetention
	instances, feed time.Duration
}

func (r *retentionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.instances, "retention", "",
		"delete instances of workflows, and jobs, that ended longer ago than this `AGE`, such as 90d (default they are kept); streams still tell of them")
	f.StringVar(&r.feed, "feed-retention", "",
		"let streams forget what happened longer ago than this `AGE`, such as 30d (default they do not); instances keep their history")
	f.StringArrayVar(&r.rules, "job-retention", nil,
		"delete jobs that did not change for a time, as `[WORKFLOW][:STATE,…]=AGE`: \"=30d\" all that are over, \"firmware:DONE,FAILED=2w\"; repeatable")
}

// use reads the settings.
func (r *retentionFlags) use() (out retention, err error) {
	if out.instances, err = useAge("retention", r.instances); err != nil {
		return out, err
	}
	if out.feed, err = useAge("feed-retention", r.feed); err != nil {
		return out, err
	}
	for _, text := range r.rules {
		rule, err := parseRetention(text)
		if err != nil {
			bad := usagef("--job-retention %q: %v", text, err)
			bad.hint = "write [WORKFLOW][:STATE,…]=AGE, such as =30d or firmware:DONE,FAILED=2w; units are s, m, h, d and w"
			return out, bad
		}
		out.jobs = append(out.jobs, rule)
	}
	return out, nil
}

// useAge reads the age that a setting has; none: for ever.
func useAge(setting, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	after, err := retentionAge(text)
	if err != nil {
		bad := usagef("--%s %q: %v", setting, text, err)
		bad.hint = "write numbers with units, such as 90d or 1d12h; units are s, m, h, d and w. Without the setting everything is kept"
		return 0, bad
	}
	return after, nil
}

// wellFormedAge is an age of any length.
var wellFormedAge = regexp.MustCompile(`^([0-9]+[smhdw])+$`)

// retentionAge reads an age after which something is deleted.
func retentionAge(text string) (time.Duration, error) {
	after, err := query.Age(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("the age cannot be negative")
	case strings.Trim(text, "0smhdw") == "" && wellFormedAge.MatchString(text):
		return 0, fmt.Errorf("the age must be longer than nothing")
	case err == nil && after > engine.MaxRetention, err != nil && wellFormedAge.MatchString(text):
		return 0, fmt.Errorf("the age is longer than %d years (limit retention)", engine.MaxRetention/(365*24*time.Hour))
	case err != nil:
		return 0, fmt.Errorf("the age: %w", err)
	}
	return after, nil
}

func parseRetention(text string) (engine.JobRetention, error) {
	what, age, found := strings.Cut(text, "=")
	if !found {
		return engine.JobRetention{}, fmt.Errorf("it has no =AGE")
	}
	after, err := retentionAge(age)
	if err != nil {
		return engine.JobRetention{}, err
	}
	rule := engine.JobRetention{After: after}
	workflow, states, named := strings.Cut(what, ":")
	rule.Workflow = workflow
	if named {
		for _, state := range strings.Split(states, ",") {
			if state == "" {
				return engine.JobRetention{}, fmt.Errorf("a state has no name")
			}
			rule.States = append(rule.States, state)
		}
	}
	return rule, nil
}
