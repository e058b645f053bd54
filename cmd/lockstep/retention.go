package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/query"
)

// retentionFlags say which jobs are deleted by themselves.
type retentionFlags struct{ rules []string }

func (r *retentionFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&r.rules, "job-retention", nil,
		"delete jobs that did not change for a time, as `[WORKFLOW][:STATE,…]=AGE`: \"=30d\" all that are over, \"firmware:DONE,FAILED=2w\"; repeatable")
}

// use reads the rules.
func (r *retentionFlags) use() ([]engine.JobRetention, error) {
	var out []engine.JobRetention
	for _, text := range r.rules {
		rule, err := parseRetention(text)
		if err != nil {
			bad := usagef("--job-retention %q: %v", text, err)
			bad.hint = "write [WORKFLOW][:STATE,…]=AGE, such as =30d or firmware:DONE,FAILED=2w; units are s, m, h, d and w"
			return nil, bad
		}
		out = append(out, rule)
	}
	return out, nil
}

func parseRetention(text string) (engine.JobRetention, error) {
	what, age, found := strings.Cut(text, "=")
	if !found {
		return engine.JobRetention{}, fmt.Errorf("it has no =AGE")
	}
	after, err := query.Age(age)
	if err != nil {
		return engine.JobRetention{}, fmt.Errorf("the age: %w", err)
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
