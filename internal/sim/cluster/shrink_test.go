package cluster

import (
	"errors"
	"testing"
	"time"
)

// TestShrink: a case that fails keeps what it needs to fail like that, and nothing else.
func TestShrink(t *testing.T) {
	c := Generate(2)
	c.Acts = append([]Act{{Kind: "nonsense"}}, append(c.Acts, Act{Kind: "rubbish", At: time.Minute})...)
	small := Shrink(c)
	if len(small.Acts) != 1 || small.Acts[0].Kind != "nonsense" || len(small.Faults) > 0 || small.Nodes > 1 || small.Oracle != nil {
		t.Errorf("what is left is\n%s", small)
	}
}

// TestGist: ids, times and what follows the first colon do not make another failure.
func TestGist(t *testing.T) {
	for text, want := range map[string]string{
		"event message-3 was consumed by [key:2f a:1]":                "event was consumed by",
		"client 7 has no answer to: at 0s, node 0: start":             "client has no answer to:",
		"after 300000 steps there is still something to do":           "after steps there is still something to do",
		"nobody does what is left: ready [a], 0 produced events":      "nobody does what is left:",
		"the history of key:9a is\n[{2020-01-01T00:00:00Z}]\nand its": "the history of is and its",
	} {
		if got := gist(errors.New(text)); got != want {
			t.Errorf("%q is in short %q, not %q", text, got, want)
		}
	}
}
