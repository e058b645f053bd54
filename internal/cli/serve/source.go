package serve

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/event/nats"
)

// sourceFlags say where events come from, besides the API.
type sourceFlags struct{ urls []string }

func (s *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.urls, "event-source", nil, "a `URL` that events come from, nats://HOST:PORT/STREAM?durable=NAME&subject=SUBJECT; repeatable")
}

// use makes the sources.
func (s *sourceFlags) use(log *slog.Logger) ([]event.Source, error) {
	var out []event.Source
	for _, text := range s.urls {
		if !nats.IsURL(text) {
			return nil, cli.Usagef("--event-source is not a URL such as nats://localhost:4222/STREAM")
		}
		set, err := nats.ParseSource(text)
		if err != nil {
			return nil, cli.Usagef("--event-source: %v", err)
		}
		out = append(out, nats.NewSource(set, log))
	}
	return out, nil
}
