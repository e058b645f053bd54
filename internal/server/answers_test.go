package server

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// TestAnswers holds answers to testdata/answers.txt byte for byte: the order of members, what is absent
// and what is null, and every digit of a number. Run it with -rewrite to accept a change.
func TestAnswers(t *testing.T) {
	clock := engine.NewVirtualClock(time.Date(2026, time.March, 1, 12, 0, 0, 250_000_000, time.UTC))
	created := 0
	w := newWorldAtRest(t, memory.New(), func(sc *Config, ec *engine.Config) {
		ec.Clock, sc.Clock = clock, clock
		ec.Inline, ec.Timezone = true, "UTC"
		ec.NewID = func() string {
			created++
			return fmt.Sprint("i", created)
		}
	})
	datadriven.RunTest(t, "testdata/answers.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "do": // a request: method and path, headers, an empty line, the body
			return w.transcribe(t, d.Input)
		case "fail": // the calls of a function, with data
			value, err := expr.ParseJSON([]byte(d.Input))
			if err != nil {
				t.Fatal(err)
			}
			failure := effect.Failure{Name: "Declined", Code: "402", Status: "402", Title: "Declined", Detail: "no money", Data: value}
			w.answers.put(d.CmdArgs[0].Key, func(effect.Call) effect.Outcome { return effect.Fail(failure) })
		case "poll": // after some time, if one is given
			if len(d.CmdArgs) > 0 {
				wait, err := time.ParseDuration(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				clock.Advance(clock.Now().Add(wait))
			}
			if _, err := w.engine.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
		default:
			d.Fatalf(t, "there is no command %s", d.Cmd)
		}
		return ""
	})
}

// elsewhere are digests and drawings, which other tests hold.
var elsewhere = regexp.MustCompile(`(digest":"|definitionHash":"|graph":"<svg)(?:[^"\\]|\\.)*`)

// transcribe sends a request and returns status, content type and body. Of a stream it is the first frames.
func (w *world) transcribe(t *testing.T, text string) string {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	method, path, _ := strings.Cut(first, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Set(name, value)
	}
	a, err := http.DefaultTransport.RoundTrip(r) // other tests hold answers to the contract
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	media := a.Header.Get("Content-Type")
	var answer []byte
	if media == "text/event-stream" {
		answer = make([]byte, 700)
		_, err = io.ReadFull(a.Body, answer)
	} else {
		answer, err = io.ReadAll(a.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := strings.TrimSpace(fmt.Sprint(a.StatusCode, " ", media)) + "\n"
	for line := range strings.Lines(elsewhere.ReplaceAllString(string(answer), "$1…")) {
		if strings.TrimSpace(line) != "" { // an empty line would end the expected text
			out += strings.TrimSuffix(line, "\n") + "\n"
		}
	}
	return out
}
