package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/event/nats"
)

// sourceFlags say where events come from, besides the API.
type sourceFlags struct {
	urls    []string
	sources []event.Source
	log     *slog.Logger
}

func (s *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.urls, "event-source", nil, "a `URL` that events come from, nats://HOST:PORT/STREAM?durable=NAME&subject=SUBJECT; repeatable")
}

// use makes the sources, which run later.
func (s *sourceFlags) use(log *slog.Logger) error {
	s.log = log
	for _, text := range s.urls {
		if !nats.IsURL(text) {
			return usagef("--event-source is not a URL such as nats://localhost:4222/STREAM")
		}
		set, err := nats.ParseSource(text)
		if err != nil {
			return usagef("--event-source: %v", err)
		}
		s.sources = append(s.sources, nats.NewSource(set, log))
	}
	return nil
}

// run lets the sources bring events into an engine until ctx ends. stop ends them too, and
// waits until what is under way is stored.
func (s *sourceFlags) run(ctx context.Context, e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, source := range s.sources {
		wg.Go(func() {
			err := source.Run(ctx, ingest(e))
			f := source.Figures()
			s.log.Info("the source ends", "source", source.String(), "taken", f.Taken, "refused", f.Refused, "failed", f.Failed)
			if err != nil {
				s.log.Error("the source ends before its time", "source", source.String(), "error", err)
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// ingest stores an event in an engine, and tells refusals from failures.
func ingest(e *engine.Engine) event.Ingest {
	return func(ctx context.Context, ev event.Event) error {
		_, err := e.Send(ctx, ev)
		var conflict *engine.EventConflictError
		var bad *event.AttributeError
		if errors.As(err, &conflict) || errors.As(err, &bad) {
			return &event.RefusedError{Err: err}
		}
		return err
	}
}
