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
	mu   sync.Mutex
	seen []request // in order, with repetitions
}

func newService(t *testing.T) *service {
	s := &service{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, strings.ReplaceAll(document, "SERVICE", s.URL))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever called is dead
	}
	s.mu.Lock()
	s.seen = append(s.seen, request{r.Header.Get("Idempotency-Key"), fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body)})
	s.mu.Unlock()
	var in struct{ Order, Item string }
	_ = json.Unmarshal(body, &in) // the document says what must be there
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
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

// check sees that every call has one key and every key one call, and that these were made.
func (s *service) check(t *testing.T, want []string) (repeated int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	keyOf, whatOf := map[string]string{}, map[string]string{}
	var made []string
	for _, r := range s.seen {
		key, again := keyOf[r.what]
		what, known := whatOf[r.key]
		switch {
		case r.key == "":
			t.Errorf("%s came without a key", r.what)
		case again && key != r.key:
			t.Errorf("%s came with the keys %s and %s", r.what, key, r.key)
		case known && what != r.what:
			t.Errorf("the key %s came with %s and with %s", r.key, what, r.what)
		case again:
			repeated++
		default:
			made = append(made, r.what)
		}
		keyOf[r.what], whatOf[r.key] = r.key, r.what
	}
	sorted := slices.Sorted(slices.Values(made))
	if !slices.Equal(sorted, slices.Sorted(slices.Values(want))) {
		t.Errorf("the calls were\n%s\nwant\n%s", strings.Join(made, "\n"), strings.Join(want, "\n"))
	} else if made[0] != want[0] || made[len(made)-1] != want[len(want)-1] {
		t.Errorf("the calls came in the order\n%s", strings.Join(made, "\n"))
	}
	return repeated
}
