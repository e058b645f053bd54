package callcheck

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Step is one step of an instance: the arguments of its call.
type Step struct {
	Of   string `json:"n"`
	Step string `json:"step"`
}

// Calls is the service that instances call. The zero value answers at once.
type Calls struct {
	mu    sync.Mutex
	times map[Step]map[string]int // how often each step was called, by idempotency key
	hold  chan struct{}           // nil: calls are answered at once
}

// maxHold is how long a call is held at most.
const maxHold = time.Minute

func (c *Calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var s Step
	key := r.Header.Get("Idempotency-Key")
	if json.Unmarshal(body, &s) != nil || key == "" {
		http.Error(w, "a call without a key or arguments", http.StatusBadRequest)
		return
	}
	if hold := c.note(s, key); hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		case <-time.After(maxHold):
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{}`)
}

func (c *Calls) note(s Step, key string) (hold <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[Step]map[string]int{}
	}
	if c.times[s] == nil {
		c.times[s] = map[string]int{}
	}
	c.times[s][key]++
	return c.hold
}

// Hold delays the answers to all calls that arrive from now on until release is called.
func (c *Calls) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hold := make(chan struct{})
	c.hold = hold
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hold = nil
		close(hold)
	}
}

// Count is how many different keys were used, and how many calls repeated a key.
func (c *Calls) Count() (keys, again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, byKey := range c.times {
		for _, n := range byKey {
			keys++
			again += n - 1
		}
	}
	return keys, again
}
