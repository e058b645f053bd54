package serve

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/event/nats"
)

// SinkFlags say where events go that instances produce, besides this server.
type SinkFlags struct {
	URL       string
	Mode      *cli.Choice
	Lifecycle bool   // lifecycle events go there, too
	close     func() // the connection, once there is one; never nil after use
}

func (s *SinkFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.URL, "event-sink", "", "an http, https or nats `URL` that gets the events which workflows produce")
	s.Mode = &cli.Choice{Value: "structured", Allowed: []string{"structured", "binary"}}
	f.Var(s.Mode, "event-sink-mode", "how events are sent to --event-sink")
	f.BoolVar(&s.Lifecycle, "lifecycle-events", false, "send the lifecycle events of Open Workflow to --event-sink, too")
}

// use makes the sink; nil: none.
func (s *SinkFlags) use(client *http.Client, log *slog.Logger) (event.Sink, error) {
	s.close = func() {}
	switch {
	case s.URL == "" && s.Lifecycle:
		return nil, cli.Usagef("--lifecycle-events needs --event-sink")
	case s.URL == "":
		return nil, nil
	case nats.IsURL(s.URL):
		return s.nats(log)
	}
	return s.HTTP(client)
}

// nats makes a sink that publishes to a stream. The operator alone says where it is.
func (s *SinkFlags) nats(log *slog.Logger) (event.Sink, error) {
	set, err := nats.ParseSink(s.URL)
	if err != nil {
		return nil, cli.Usagef("--event-sink: %v", err)
	}
	set.Binary = s.Mode.Value == "binary"
	sink, err := nats.NewSink(set, log)
	if err != nil {
		return nil, cli.Usagef("--event-sink: %v", err)
	}
	s.close = sink.Close
	return sink.Send, nil
}

// HTTP makes a sink that is under the outbound policy as calls are.
func (s *SinkFlags) HTTP(client *http.Client) (event.Sink, error) {
	target, err := operatorURL("event-sink", "http, https or nats", s.URL)
	if err != nil {
		return nil, err
	}
	sink := eventhttp.Sink{Mode: eventhttp.ModeStructured, Post: post(client, target, nil)}
	if s.Mode.Value == "binary" {
		sink.Mode = eventhttp.ModeBinary
	}
	return sink.Send, nil
}
