package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	if got := barText("retried", 50, 200, 10*time.Second); got != "[######..................] 50 of 200 retried, 5/s, 30s left" {
		t.Error(got)
	}
	if got := barText("retried", 200, 200, 10*time.Second); got != "[########################] 200 of 200 retried, 20/s" {
		t.Error(got)
	}
}

// TestTablesKeepTheirShape: text from elsewhere cannot break a row, or command the terminal.
func TestTablesKeepTheirShape(t *testing.T) {
	var out bytes.Buffer
	rows := Listing[string]{Columns: []string{"A", "B"}, Row: func(s string) []string { return []string{s, "x"} }, Name: func(s string) string { return s }}
	if err := rows.Write(&App{Out: &out}, AsFormat("table"), []string{"a\tb\nc\x1b[2J", ""}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || strings.ContainsRune(out.String(), '\x1b') || !strings.HasPrefix(lines[2], "- ") {
		t.Errorf("%q", out.String())
	}
}
