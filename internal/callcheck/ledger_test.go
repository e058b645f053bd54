package callcheck

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
)

// run is a small world in which all is well: two starts, each with one call of each of its steps.
type run struct {
	ledger Ledger
	calls  *Calls
	url    string
	t      *testing.T
}

func newRun(t *testing.T) *run {
	r := &run{calls: &Calls{}, t: t}
	r.ledger = Ledger{Calls: r.calls, Steps: map[string][]string{"two": {"first", "second"}}}
	service := httptest.NewServer(r.calls)
	t.Cleanup(service.Close)
	r.url = service.URL
	for _, name := range []string{"a", "b"} {
		r.ledger.Acknowledged("two", name, "id-"+name)
		r.found("id-"+name, name, "first", "second")
		r.call(name, "first", "key1"+name)
		r.call(name, "second", "key2"+name)
	}
	return r
}

func (r *run) call(of, step, key string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url, strings.NewReader(fmt.Sprintf(`{"n":%q,"step":%q}`, of, step)))
	if err != nil {
		r.t.Error(err)
		return
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Error(err)
		return
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		r.t.Errorf("a call got %s", res.Status)
	}
}

// found notes an instance whose history has those calls.
func (r *run) found(id, name string, steps ...string) {
	r.ledger.Found(instance(id), history(name, steps...))
}

func instance(id string) (in api.Instance) {
	in.ID, in.Definition.ID = id, "two"
	return in
}

func history(name string, steps ...string) (out []api.Record) {
	for i, step := range steps {
		out = append(out, api.Record{Seq: int64(i + 1), Type: "called", Node: "/" + step, Data: api.Data(fmt.Sprintf(`{"n":%q,"step":%q}`, name, step))})
	}
	return out
}

func TestVerdict(t *testing.T) {
	for _, x := range []struct {
		name string
		harm func(*run)
		want Verdict
	}{
		{"all is well", func(*run) {}, Verdict{Acknowledged: 2, Calls: 4}},
		{"a call came again", func(r *run) { r.call("a", "first", "key1a") }, Verdict{Acknowledged: 2, Calls: 4, Again: 1}},
		{"one is lost", func(r *run) { r.ledger.Acknowledged("two", "c", "id-c") }, Verdict{Acknowledged: 3, Lost: 1, Calls: 4}},
		{"another id than was said", func(r *run) { r.ledger.Acknowledged("two", "b", "id-c") }, Verdict{Acknowledged: 2, Lost: 1, Calls: 4}},
		{"no id was said", func(r *run) { r.ledger.Acknowledged("two", "b", "") }, Verdict{Acknowledged: 2, Calls: 4}},
		{"one is there twice", func(r *run) { r.found("id-c", "a", "first", "second") }, Verdict{Acknowledged: 2, Extra: 1, Calls: 4}},
		{"a call under another key", func(r *run) { r.call("a", "first", "key3") }, Verdict{Acknowledged: 2, Calls: 5, OtherKeys: 1}},
		{"a call for nothing", func(r *run) { r.call("c", "first", "key3") }, Verdict{Acknowledged: 2, Extra: 1, Calls: 5}},
		{"a step that was never called", func(r *run) {
			r.ledger.Acknowledged("two", "c", "")
			r.found("id-c", "c", "first", "second")
			r.call("c", "first", "key3")
		}, Verdict{Acknowledged: 3, Calls: 5, OtherKeys: 1}},
		{"steps that are not those of the definition", func(r *run) {
			r.ledger.Acknowledged("two", "c", "")
			r.found("id-c", "c", "first")
			r.call("c", "first", "key3")
			r.call("c", "second", "key4")
		}, Verdict{Acknowledged: 3, Twice: 1, Calls: 6}},
		{"a transition that happened twice", func(r *run) {
			r.tamper(func(h []api.Record) { h[0].Node, h[0].Type, h[1].Type, h[1].Node = "/x", "left", "left", "/x" })
		}, Verdict{Acknowledged: 3, Twice: 1, Calls: 6}},
		{"a gap in a history", func(r *run) {
			r.tamper(func(h []api.Record) { h[0].Type, h[1].Type, h[1].Seq = "entered", "left", 3 })
		}, Verdict{Acknowledged: 3, Twice: 1, Calls: 6}},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRun(t)
			x.harm(r)
			got := r.ledger.Verdict()
			text := got.Text()
			got.Problems = nil
			if fmt.Sprint(got) != fmt.Sprint(x.want) {
				t.Errorf("got  %v\nwant %v\n%s", got, x.want, text)
			}
			if bad := x.want.Lost + x.want.Extra + x.want.Twice + x.want.OtherKeys; (bad > 0) != (text != "") {
				t.Errorf("%d problems are told as %q", bad, text)
			}
		})
	}
}

// tamper notes one more instance, before whose calls stand two records that are changed.
func (r *run) tamper(change func([]api.Record)) {
	r.ledger.Acknowledged("two", "c", "")
	list := append([]api.Record{{Seq: 1}, {Seq: 2}}, history("c", "first", "second")...)
	for i := range list {
		list[i].Seq = int64(i + 1)
	}
	change(list)
	r.ledger.Found(instance("id-c"), list)
	r.call("c", "first", "key3")
	r.call("c", "second", "key4")
}

// TestHold: a call that is held counts, and is answered when it is released.
func TestHold(t *testing.T) {
	r := newRun(t)
	release := r.calls.Hold()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.call("a", "first", "key1a")
	}()
	for again := 0; again == 0; {
		_, again = r.calls.Count()
		runtime.Gosched()
	}
	select {
	case <-answered:
		t.Error("it was answered while it was held")
	default:
	}
	release()
	<-answered
}
