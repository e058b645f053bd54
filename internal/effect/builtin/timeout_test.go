package builtin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestStatedTimeout: a call whose definition waits longer than call-timeout goes on, up to call-timeout-max. The calls
// of all kinds that are made over HTTP are cut by the same rule.
func TestStatedTimeout(t *testing.T) {
	entered, release := make(chan struct{}, 16), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	}))
	defer s.Close()
	client, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.1"}, Limits: effecthttp.Limits{Timeout: 20 * time.Millisecond, MaxTimeout: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	r := Router(Options{Client: client}, nil)
	t.Cleanup(r.Close)
	operations := []string{s.URL + "#POST", ir.Request{Protocol: ir.RequestREST, Method: "POST", URI: s.URL}.Operation(false)}
	outcomes := make(chan effect.Outcome)
	for _, operation := range operations {
		go func() {
			outcomes <- r.Invoke(t.Context(), effect.Call{Function: "f", Operation: operation, Timeout: time.Minute})
		}()
		<-entered
	}
	for _, stated := range []time.Duration{0, time.Millisecond} { // meanwhile others are cut
		out := r.Invoke(t.Context(), effect.Call{Function: "f", Operation: operations[0], Timeout: stated})
		if out.Failure == nil || out.Failure.Name != effect.Timeout || !strings.Contains(out.Failure.Detail, "within 20ms (limit call-timeout)") {
			t.Errorf("%s: %+v", stated, out.Failure)
		}
	}
	close(release)
	for range operations {
		if out := <-outcomes; out.Failure != nil || out.Value.String() != `{"ok":true}` {
			t.Errorf("%+v %s", out.Failure, out.Value)
		}
	}
}

// TestTimeoutLimits: which limit holds, by name.
func TestTimeoutLimits(t *testing.T) {
	client, err := effecthttp.New(effecthttp.Options{Limits: effecthttp.Limits{Timeout: time.Minute, MaxTimeout: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	for stated, want := range map[time.Duration]struct {
		after time.Duration
		named string
	}{
		0:                {time.Minute, "limit call-timeout"},
		time.Second:      {time.Minute, "limit call-timeout"},
		time.Minute:      {time.Minute, "limit call-timeout"},
		30 * time.Minute: {30*time.Minute + time.Second, "the timeout of the definition"},
		2 * time.Hour:    {time.Hour, "limit call-timeout-max"},
	} {
		if after, named := client.Timeout(effecthttp.Within(t.Context(), stated)); after != want.after || named != want.named {
			t.Errorf("%s: %s (%s), want %+v", stated, after, named, want)
		}
	}
}
