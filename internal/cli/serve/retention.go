package serve

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/query"
)

// retentionFlags say what is deleted automatically.
type retentionFlags struct {
	rules           []string
	instances, feed string
	audit           string
}

func (r *retentionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.instances, "retention", "",
		"delete instances and jobs that ended longer ago than this `AGE`, such as 90d (default: keep them); streams keep their records")
	f.StringVar(&r.feed, "feed-retention", "",
		"delete records of streams that are older than this `AGE`, such as 30d (default: keep them); instances keep their history")
	f.StringVar(&r.audit, "audit-retention", "",
		"delete entries of the audit log that are older than this `AGE`, such as 400d (default: keep them)")
	f.StringArrayVar(&r.rules, "job-retention", nil,
		"delete jobs that have not changed for a time, as `[WORKFLOW][:STATE,…]=AGE`: \"=30d\" for all that have ended, \"firmware:DONE,FAILED=2w\"; repeatable")
}

// use reads the settings.
func (r *retentionFlags) use() (out []lockstep.Option, err error) {
	for _, setting := range []struct {
		name, age string
		option    func(time.Duration) lockstep.Option
	}{
		{"retention", r.instances, lockstep.Retention},
		{"feed-retention", r.feed, lockstep.FeedRetention},
		{"audit-retention", r.audit, lockstep.AuditRetention},
	} {
		age, err := useAge(setting.name, setting.age)
		if err != nil {
			return nil, err
		}
		if age > 0 {
			out = append(out, setting.option(age))
		}
	}
	for _, text := range r.rules {
		rule, err := parseRetention(text)
		if err != nil {
			bad := cli.Usagef("--job-retention %q: %v", text, err)
			bad.Hint = "write [WORKFLOW][:STATE,…]=AGE, such as =30d or firmware:DONE,FAILED=2w; units are s, m, h, d and w"
			return nil, bad
		}
		out = append(out, lockstep.JobRetention(rule.After, rule.Workflow, rule.States...))
	}
	return out, nil
}

// useAge reads the age of a setting; empty: no limit.
func useAge(setting, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	after, err := retentionAge(text)
	if err != nil {
		bad := cli.Usagef("--%s %q: %v", setting, text, err)
		bad.Hint = "write numbers with units, such as 90d or 1d12h; units are s, m, h, d and w"
		return 0, bad
	}
	return after, nil
}

// wellFormedAge matches an age of any length.
var wellFormedAge = regexp.MustCompile(`^([0-9]+[smhdw])+$`)

// retentionAge parses the age of a retention setting.
func retentionAge(text string) (time.Duration, error) {
	after, err := query.Age(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("the age cannot be negative")
	case strings.Trim(text, "0smhdw") == "" && wellFormedAge.MatchString(text):
		return 0, fmt.Errorf("the age must be positive")
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
