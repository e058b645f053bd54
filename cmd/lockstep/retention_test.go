package main

import (
	"io"
	"net/http"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// metric PATTERN waits until the server's figures are so.
func metric(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: metric PATTERN")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for text := []byte(nil); !pattern.Match(text); {
		answer, err := http.Get(ts.Getenv("LOCKSTEP_URL") + "/metrics")
		ts.Check(err)
		text, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		ts.Check(err)
	}
}
