package remote

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

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

// TestAnswersAreDocumented: the table of exit codes in docs/cli.md has every answer of a server at its code; those that
// it does not name are an error.
func TestAnswersAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Exit codes\n")
	documented := map[int]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .* \| ([0-9, ]*)\|$`).FindAllStringSubmatch(table, -1) {
		code, _ := strconv.Atoi(row[1])
		for _, text := range strings.Fields(strings.ReplaceAll(row[2], ",", "")) {
			status, _ := strconv.Atoi(text)
			documented[status] = code
		}
	}
	if len(documented) < 10 {
		t.Fatalf("the table has only %v", documented)
	}
	for status := 400; status < 600; status++ {
		want, ok := documented[status]
		if !ok {
			want = cli.ExitError
		}
		if got := ProblemExit(status); got != want {
			t.Errorf("status %d: the program ends with %d, docs/cli.md says %d", status, got, want)
		}
	}
}
