package durability

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// document describes the service.
const document = `openapi: 3.1.0
info: {title: Depot, version: "1"}
servers: [{url: SERVICE}]
paths:
  /reservations:
    post:
      operationId: reserve
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [order], properties: {order: {type: string}}}}}}
      responses: {"200": {description: done, content: {application/json: {schema: {type: object, required: [number], properties: {number: {type: string}}}}}}}
  /reservations/{number}:
    delete:
      operationId: release
      parameters: [{name: number, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: done, content: {application/json: {schema: {type: object, required: [released]}}}}}
  /parcels:
    post:
      operationId: pack
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [item], properties: {item: {type: string}}}}}}
      responses: {"200": {description: done, content: {application/json: {schema: {type: object, required: [parcel], properties: {parcel: {type: string}}}}}}}
  /shipments:
    post:
      operationId: ship
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [parcels], properties: {parcels: {type: array}}}}}}
      responses: {"200": {description: done}}
`

// request is a call as it reached the service.
type request struct{ key, what string }

// service is what the workflow calls. It answers the same to the same.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []request               // in order, with repetitions
	tries []string                // the keys of calls of what is down at first
	paths map[string]http.Handler // that are served in another way

	raced func()          // says that the call came that loses the race
	race  <-chan struct{} // closed then: before that nobody wins it
}

func newService(t *testing.T) *service {
	race := make(chan struct{})
	s := &service{raced: sync.OnceFunc(func() { close(race) }), race: race, paths: map[string]http.Handler{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// note keeps a call that came.
func (s *service) note(key, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, request{key, what})
}

// handle serves a path in another way.
func (s *service) handle(path string, h http.Handler) { s.paths[path] = h }

// document serves a text.
func (s *service) document(path, text string) {
	s.handle(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.paths[r.URL.Path]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodGet {
		fmt.Fprint(w, strings.ReplaceAll(document, "SERVICE", s.URL))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever called is dead
	}
	s.note(r.Header.Get("Idempotency-Key"), fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
	var in struct {
		Order, Item, Branch string
		N                   int
	}
	_ = json.Unmarshal(body, &in) // the document says what must be there
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/items":
		fmt.Fprintf(w, `{"parcel":"P-%s"}`, in.Item)
	case "/flaky":
		attempt := s.attempt(r.Header.Get("Idempotency-Key"))
		if attempt < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintf(w, `{"attempt":%d}`, attempt)
	case "/branches":
		switch in.Branch {
		case "never":
			s.raced()
			<-r.Context().Done()
			return
		case "fast":
			select {
			case <-s.race:
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprintf(w, `{"branch":%q}`, in.Branch)
	case "/readings":
		fmt.Fprintf(w, `{"double":%d}`, 2*in.N)
	case "/reservations":
		fmt.Fprintf(w, `{"number":"R-%s"}`, in.Order)
	case "/parcels":
		fmt.Fprintf(w, `{"parcel":"P-%s"}`, in.Item)
	case "/shipments":
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"name":"NotDeliverable","message":"nobody lives there"}`)
	default:
		fmt.Fprintf(w, `{"released":%q}`, strings.TrimPrefix(r.URL.Path, "/reservations/"))
	}
}

// attempt tells which one has a key.
func (s *service) attempt(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.tries, key) {
		s.tries = append(s.tries, key)
	}
	return slices.Index(s.tries, key) + 1
}

// sideBySide reports whether a call may be under way together with others that are.
func sideBySide(r request) bool {
	return strings.Contains(r.what, " /parcels ") || strings.Contains(r.what, " /branches ")
}

// check sees that these calls were made, each under a key of its own, and that none was made again
// after another that shows that its answer was stored.
func (s *service) check(t *testing.T, want []string) (repeated int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	number := map[string]int{} // of keys
	var first []request
	var made []string
	for _, r := range s.seen {
		n, again := number[r.key]
		switch {
		case r.key == "":
			t.Errorf("%s came without a key", r.what)
		case again && first[n].what != r.what:
			t.Errorf("the key %s came with %s and with %s", r.key, first[n].what, r.what)
		case again:
			repeated++
			for _, later := range first[n+1:] {
				if !sideBySide(later) || !sideBySide(r) {
					t.Errorf("%s came again, though %s came after its answer", r.what, later.what)
				}
			}
		default:
			number[r.key] = len(first)
			first, made = append(first, r), append(made, r.what)
		}
	}
	sorted := slices.Sorted(slices.Values(made))
	if !slices.Equal(sorted, slices.Sorted(slices.Values(want))) {
		t.Errorf("the calls were\n%s\nwant\n%s", strings.Join(made, "\n"), strings.Join(want, "\n"))
	} else if made[0] != want[0] || made[len(made)-1] != want[len(want)-1] {
		t.Errorf("the calls came in the order\n%s", strings.Join(made, "\n"))
	}
	return repeated
}
