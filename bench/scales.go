package main

import (
	"context"
	"flag"
)

// scales are measurements of one large thing, each by a flag with its size.
type scales struct{ foreach, waiting, recover, jobs, queries int }

func (s *scales) add(flags *flag.FlagSet) {
	flags.IntVar(&s.foreach, "foreach", 0, "instead: a foreach over so many items")
	flags.IntVar(&s.waiting, "waiting", 0, "instead: events and a start among so many instances that wait")
	flags.IntVar(&s.recover, "recover", 0, "instead: a start after kill -9 with so many live instances")
	flags.IntVar(&s.jobs, "jobs", 0, "instead: lists of ten among so many jobs, and updates")
	flags.IntVar(&s.queries, "queries", 0, "instead: what the page and the command line ask for among so many instances, on SQLite")
}

func (s *scales) any() bool {
	return s.foreach > 0 || s.waiting > 0 || s.recover > 0 || s.jobs > 0 || s.queries > 0
}

func (s *scales) run(ctx context.Context) error {
	for _, m := range []struct {
		n  int
		do func(context.Context, int) error
	}{{s.foreach, reportFan}, {s.waiting, reportWaiting}, {s.recover, reportRecover}, {s.jobs, reportJobs}, {s.queries, reportQueries}} {
		if m.n <= 0 {
			continue
		}
		if err := m.do(ctx, m.n); err != nil {
			return err
		}
	}
	return nil
}
