package main

import "testing"

// mostOverHTTP is how many allocations HTTP may add to a W1.
const mostOverHTTP = 40

// TestHTTPAddsFewAllocations: a W1 that is started over HTTP, under a key, and waited for there costs hardly more than one in
// the process. About 25 are net/http's own.
func TestHTTPAddsFewAllocations(t *testing.T) {
	for _, on := range []string{"memory", "sqlite"} {
		t.Run(on, func(t *testing.T) {
			inside := costOfLoad(t, on, load{name: "W1", definition: calling("w1", 1)})
			over := costOfLoad(t, on, load{name: "W1/HTTP", definition: calling("w1", 1), http: true})
			added := over.allocations - inside.allocations
			t.Logf("%.1f in the process, %.1f over HTTP", inside.allocations, over.allocations)
			if added > mostOverHTTP {
				t.Errorf("HTTP adds %.1f allocations, more than %d", added, mostOverHTTP)
			}
		})
	}
}
