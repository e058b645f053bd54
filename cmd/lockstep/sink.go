package main

import (
	"context"
	stdhttp "net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/event"
	eventhttp "github.com/lockstep-workflows/lockstep/event/http"
)

// sinkFlags say where events go that instances produce, besides this server.
type sinkFlags struct {
	url  string
	mode *choice
}

func (s *sinkFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "event-sink", "", "an http or https `URL` that gets the events which workflows produce")
	s.mode = &choice{value: "structured", allowed: []string{"structured", "binary"}}
	f.Var(s.mode, "event-sink-mode", "how events are sent to --event-sink")
}

// use makes the sink, which is under the outbound policy as calls are; nil: none.
func (s *sinkFlags) use(client *http.Client) (func(context.Context, event.Event) error, error) {
	if s.url == "" {
		return nil, nil
	}
	target, err := url.Parse(s.url)
	switch {
	case err != nil:
		return nil, usagef("--event-sink is not a URL")
	case target.Scheme != "http" && target.Scheme != "https" || target.Hostname() == "":
		return nil, usagef("--event-sink %q is not an http or https URL", target.Redacted())
	case target.User != nil:
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
