package main

import (
	"context"
	"log/slog"
	stdhttp "net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/event/nats"
)

// sinkFlags say where events go that instances produce, besides this server.
type sinkFlags struct {
	url   string
	mode  *choice
	close func() // the connection, once there is one; never nil after use
}

func (s *sinkFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "event-sink", "", "an http, https or nats `URL` that gets the events which workflows produce")
	s.mode = &choice{value: "structured", allowed: []string{"structured", "binary"}}
	f.Var(s.mode, "event-sink-mode", "how events are sent to --event-sink")
}

// use makes the sink; nil: none.
func (s *sinkFlags) use(client *http.Client, log *slog.Logger) (event.Sink, error) {
	s.close = func() {}
	switch {
	case s.url == "":
		return nil, nil
	case nats.IsURL(s.url):
		return s.nats(log)
	}
	return s.http(client)
}

// nats makes a sink that publishes to a stream. The operator alone says where it is.
func (s *sinkFlags) nats(log *slog.Logger) (event.Sink, error) {
	set, err := nats.ParseSink(s.url)
	if err != nil {
		return nil, usagef("--event-sink: %v", err)
	}
	set.Binary = s.mode.value == "binary"
	sink, err := nats.NewSink(set, log)
	if err != nil {
		return nil, usagef("--event-sink: %v", err)
	}
	s.close = sink.Close
	return sink.Send, nil
}

// http makes a sink that is under the outbound policy as calls are.
func (s *sinkFlags) http(client *http.Client) (event.Sink, error) {
	target, err := url.Parse(s.url)
	switch {
	case err != nil:
		return nil, usagef("--event-sink is not a URL")
	case target.Scheme != "http" && target.Scheme != "https" || target.Hostname() == "":
		return nil, usagef("--event-sink is not an http, https or nats URL")
	case target.User != nil || strings.Contains(target.EscapedPath(), "@"):
		return nil, usagef("--event-sink holds a user or password, which is not supported")
	}
	if err := http.CheckPort(target); err != nil {
		return nil, usagef("--event-sink: %v", err)
	}
	target.Fragment, target.RawFragment = "", ""
	sink := eventhttp.Sink{Mode: eventhttp.ModeStructured}
	if s.mode.value == "binary" {
		sink.Mode = eventhttp.ModeBinary
	}
	sink.Post = func(ctx context.Context, h stdhttp.Header, body []byte, key string) (int, error) {
		// Secret: with a redirect to another host the headers of an event would be lost.
		a, err := client.Do(ctx, http.Request{Method: "POST", URL: target, Header: h, Body: body, Key: key, Secret: true})
		return a.Status, err
	}
	return sink.Send, nil
}
