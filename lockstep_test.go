package lockstep_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
)

// opened is an engine that the test closes.
func opened(t *testing.T, address string, options ...lockstep.Option) *lockstep.Engine {
	t.Helper()
	e, err := lockstep.Open(t.Context(), address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestContinues: an instance whose function did not answer when the engine was closed calls it again, under the
// same key, when another engine opens the store.
func TestContinues(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	called := make(chan string, 1)
	first, err := lockstep.Open(t.Context(), address, lockstep.Func("greet", func(ctx context.Context, _ person) (greeting, error) {
		called <- lockstep.CallKey(ctx)
		<-ctx.Done()
		return greeting{}, ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	deploy(first, lockstep.Text(hello))
	id, err := first.Start(t.Context(), "hello", person{"Ada"}, lockstep.Key("k"))
	if err != nil {
		t.Fatal(err)
	}
	key := <-called
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.Shutdown(now); err != nil {
		t.Fatal(err)
	}
	var again atomic.Value
	second := opened(t, address, lockstep.Func("greet", func(ctx context.Context, p person) (greeting, error) {
		again.Store(lockstep.CallKey(ctx))
		return greet(ctx, p)
	}))
	in, err := second.Wait(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := lockstep.Output[greeting](in); err != nil || out.Text != "Hello, Ada" || again.Load() != key || key == "" {
		t.Error(out, err, again.Load(), key)
	}
	if same, err := second.Start(t.Context(), "hello", person{"Ada"}, lockstep.Key("k")); err != nil || same != id {
		t.Error(same, err)
	}
}

// TestRefusals: every operation that is refused says why with a code.
func TestRefusals(t *testing.T) {
	e := opened(t, "memory:", lockstep.Func("greet", greet))
	deploy(e, lockstep.Text(hello))
	ctx := t.Context()
	id, err := e.Start(ctx, "hello", person{"Ada"}, lockstep.Key("k"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(ctx, id); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(hello, "Say hello", "Say it", 1)
	for _, c := range []struct {
		what string
		code api.Code
		do   func() error
	}{
		{"start what is not deployed", api.CodeNotFound, func() error { _, err := e.Start(ctx, "nothing", nil); return err }},
		{"start with a list", api.CodeInput, func() error { _, err := e.Start(ctx, "hello", []int{1}); return err }},
		{"start another version", api.CodeNotFound, func() error { _, err := e.Start(ctx, "hello", nil, lockstep.Version("2.0")); return err }},
		{"use a key again", api.CodeKeyReused, func() error { _, err := e.Start(ctx, "hello", person{"Bob"}, lockstep.Key("k")); return err }},
		{"wait for nothing", api.CodeNotFound, func() error { _, err := e.Wait(ctx, "nothing"); return err }},
		{"get nothing", api.CodeNotFound, func() error { _, err := e.Get(ctx, "nothing"); return err }},
		{"watch nothing", api.CodeNotFound, func() error {
			for _, err := range e.Watch(ctx, "nothing") {
				return err
			}
			return nil
		}},
		{"list with a bad filter", api.CodeBadFilter, func() error {
			for _, err := range e.List(ctx, "is:red") {
				return err
			}
			return nil
		}},
		{"deploy other content", api.CodeVersion, func() error { _, err := e.Deploy(ctx, lockstep.Text(other)); return err }},
		{"deploy nonsense", api.CodeInvalid, func() error { _, err := e.Deploy(ctx, lockstep.Text("id: 1")); return err }},
		{"pause what ended", api.CodeNotAllowedNow, func() error { _, err := e.Pause(ctx, id, ""); return err }},
		{"answer nothing", api.CodeNotFound, func() error { return e.Answer(ctx, id, "x", nil) }},
	} {
		var refused *lockstep.Error
		if err := c.do(); !errors.As(err, &refused) || refused.Code != c.code || err.Error() == "" {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := e.Send(ctx, event.Event{}); err == nil {
		t.Error("an event without an id was taken")
	}
	if _, err := e.Start(ctx, "hello", func() {}); err == nil {
		t.Error("a function is no input")
	}
	if _, err := e.Deploy(ctx, lockstep.File(os.DirFS(t.TempDir()), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := e.Start(canceled, "hello", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRetryAndCancel: a failed instance tries its state again, and one that is cancelled in between ends.
func TestRetryAndCancel(t *testing.T) {
	var asked atomic.Int64
	called := make(chan struct{})
	e := opened(t, "memory:", lockstep.Func("greet", func(ctx context.Context, p person) (greeting, error) {
		switch asked.Add(1) {
		case 1:
			return greeting{}, errors.New("not today")
		case 2:
			return greet(ctx, p)
		}
		close(called)
		<-ctx.Done()
		return greeting{}, ctx.Err()
	}))
	deploy(e, lockstep.Text(hello))
	ctx := t.Context()
	in, err := e.Run(ctx, "hello", person{"Ada"})
	if err != nil || in.Status != "failed" {
		t.Fatal(in.Status, err)
	}
	if _, err := e.Retry(ctx, in.ID, "it is tomorrow"); err != nil {
		t.Fatal(err)
	}
	if in, err = e.Wait(ctx, in.ID); err != nil || in.Status != "completed" {
		t.Error(in.Status, err)
	}
	id, err := e.Start(ctx, "hello", person{"Bob"})
	if err != nil {
		t.Fatal(err)
	}
	<-called
	if _, err := e.Cancel(ctx, id, "not needed any more"); err != nil {
		t.Fatal(err)
	}
	if in, err = e.Wait(ctx, id); err != nil || in.Status != "cancelled" {
		t.Error(in.Status, err)
	}
}

// TestOptions: what an option or an address says wrong is refused, and no password is repeated.
func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		option  lockstep.Option
	}{
		"twice":      {"memory:", func() lockstep.Option { return lockstep.Func("greet", greet) }()},
		"no name":    {"memory:", lockstep.Func("", greet)},
		"no func":    {"memory:", lockstep.Func[person, greeting]("nil", nil)},
		"no source":  {"memory:", lockstep.Source(nil)},
		"no logger":  {"memory:", lockstep.Logger(nil)},
		"namespace":  {"memory:", lockstep.Namespace("")},
		"window":     {"memory:", lockstep.EventWindow(0)},
		"retention":  {"memory:", lockstep.Retention(-1)},
		"calls":      {"memory:", lockstep.MaxCalls(0)},
		"tokens":     {"memory:", lockstep.Tokens([]byte("{name: x}"))},
		"timezone":   {"memory:", lockstep.Timezone("Mars/Olympus")},
		"outbound":   {"memory:", lockstep.OutboundAllow("not an address!")},
		"origin":     {"memory:", lockstep.Origins("x")},
		"missed":     {"memory:", lockstep.MissedFires("some")},
		"address":    {"mysql://u:hunter2@h/d", nil},
		"postgres":   {"postgres://u:hunter2", nil},
		"empty":      {"", nil},
		"unwritable": {"sqlite:/proc/none/x.db", nil},
	} {
		options := []lockstep.Option{lockstep.Func("greet", greet)}
		if c.option != nil {
			options = append(options, c.option)
		}
		e, err := lockstep.Open(t.Context(), c.address, options...)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), "lockstep: ") {
			t.Errorf("%s: %v", name, err)
		}
		if e != nil {
			t.Errorf("%s: there is an engine", name)
		}
	}
}

// TestFailures: how the errors and panics of functions reach the instance.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail func() error
		want string
	}{
		"plain":   {func() error { return errors.New("no luck") }, "Error: no luck"},
		"wrapped": {func() error { return fmt.Errorf("on the way: %w", &effect.Failure{Name: "Lost", Detail: "it fell"}) }, "Lost: it fell"},
		"panic":   {func() error { panic("oh") }, "oh"},
	} {
		e := opened(t, "memory:", lockstep.Func("greet", func(context.Context, person) (greeting, error) { return greeting{}, c.fail() }))
		deploy(e, lockstep.Text(hello))
		in, err := e.Run(t.Context(), "hello", person{"Ada"})
		if err != nil {
			t.Fatal(err)
		}
		var failed *lockstep.InstanceError
		if _, err := lockstep.Output[greeting](in); !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := opened(t, "memory:", lockstep.Func("greet", func(context.Context, struct{ Name int }) (greeting, error) { return greeting{}, nil }))
	deploy(e, lockstep.Text(hello))
	in, err := e.Run(t.Context(), "hello", person{"Ada"})
	if err != nil || in.Error == nil || in.Error.Name != effect.InvalidArguments {
		t.Errorf("%+v %v", in.Error, err)
	}
}

const waits = `
id: waits
name: Wait for a word
version: "1.0"
events: [{name: Word, type: word, source: test}]
states:
- {name: Begin, type: inject, start: {kind: default}, data: {begun: true}, transition: {nextState: Listen}}
- {name: Listen, type: event, onEvents: [{eventRefs: [Word]}], end: {kind: default}}
`

// TestWatch: a watcher that was there from the beginning sees every record once, in order, and ends with the
// instance; one that has enough can stop.
func TestWatch(t *testing.T) {
	e := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	deploy(e, lockstep.Text(waits))
	ctx := t.Context()
	id, err := e.Start(ctx, "waits", nil)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range e.Watch(ctx, id) {
		if err != nil || r.Seq != 1 {
			t.Fatal(r, err)
		}
		break
	}
	entered, done := make(chan struct{}), make(chan []string)
	go func() {
		var got []string
		for r, err := range e.Watch(ctx, id) {
			if err != nil {
				t.Error(err)
			}
			if got = append(got, r.Type); r.Seq != int64(len(got)) {
				t.Errorf("record %d came after %d others", r.Seq, len(got)-1)
			}
			if r.Type == api.RecordEntered && r.Node == "Listen" {
				close(entered)
			}
		}
		done <- got
	}()
	<-entered
	if _, err := e.Send(ctx, event.Event{ID: "1", Source: "test", Type: "word"}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if len(got) == 0 || got[len(got)-1] != api.RecordFinished {
		t.Errorf("%v", got)
	}
	n := 0
	for r, err := range e.History(ctx, id) {
		if n++; err != nil || n > len(got) || r.Type != got[n-1] {
			t.Fatal(n, r, err)
		}
	}
	if n != len(got) {
		t.Errorf("%d of %d", n, len(got))
	}
}

// TestClose: closing ends waits and streams of the engine's own client, and may be done twice.
func TestClose(t *testing.T) {
	e, err := lockstep.Open(t.Context(), "memory:")
	if err != nil {
		t.Fatal(err)
	}
	deploy(e, lockstep.Text(waits))
	ready := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for change, err := range e.Client().Stream(t.Context(), client.StreamQuery{Patience: -1}) {
			if err != nil {
				return
			}
			if change.Kind == api.StreamReady {
				close(ready)
			}
		}
	})
	<-ready
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	done.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestManyAtOnce: an engine serves many goroutines.
func TestManyAtOnce(t *testing.T) {
	e := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), lockstep.Func("greet", greet))
	deploy(e, lockstep.Text(hello))
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			in, err := e.Run(t.Context(), "hello", person{fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := lockstep.Output[greeting](in); err != nil || out.Text != fmt.Sprintf("Hello, %d", i) {
				t.Error(out, err)
			}
		})
	}
	all.Wait()
	n := 0
	for _, err := range e.List(t.Context(), "status:completed") {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 100 {
		t.Errorf("%d instances", n)
	}
}

// TestTokens: the handler wants a token where there are some, the engine's own client does not.
func TestTokens(t *testing.T) {
	e := opened(t, "memory:", lockstep.Tokens([]byte(`{name: ci, role: admin, hash: "sha256:`+strings.Repeat("00", 32)+`"}`)))
	if _, err := e.Client().ListDefinitions(t.Context(), client.DefinitionQuery{}); err != nil {
		t.Error(err)
	}
	srv := newServer(t, e.Handler())
	c, err := client.New(client.Options{URL: srv})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var refused *client.Problem
	if _, err := c.ListDefinitions(t.Context(), client.DefinitionQuery{}); !errors.As(err, &refused) || refused.Code != api.CodeUnauthorized {
		t.Error(err)
	}
}
