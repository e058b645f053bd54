package remote

import "testing"

// TestWithScheme: an address without a scheme is that of this machine, or one that is reached over https.
func TestWithScheme(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8081":             "http://127.0.0.1:8081",
		"localhost":                  "http://localhost",
		"localhost:8081/lockstep":    "http://localhost:8081/lockstep",
		"[::1]:8081":                 "http://[::1]:8081",
		"lockstep.example.com":       "https://lockstep.example.com",
		"lockstep.example.com:8443/": "https://lockstep.example.com:8443/",
		"http://lockstep.example":    "http://lockstep.example",
		"unix:///run/lockstep.sock":  "unix:///run/lockstep.sock",
		"unix:/run/lockstep.sock":    "unix:/run/lockstep.sock",
		"":                           "",
	} {
		if got := WithScheme(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
