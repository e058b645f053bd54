package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// bar tells how far a long piece of work is: how many of how many, how fast, and how long
// it will take. On a terminal it stays on its line; elsewhere it adds one now and then.
type bar struct {
	mu       sync.Mutex
	app      *app
	what     string
	total    int
	done     int
	begun    time.Time
	told     time.Time
	terminal bool
	quiet    bool
}

const (
	barDelay = 300 * time.Millisecond // what is over by then needs no bar
	barEvery = 100 * time.Millisecond
	barLines = 10 * time.Second // between lines where there is no terminal
)

func newBar(a *app, what string, total int) *bar {
	now := time.Now()
	return &bar{app: a, what: what, total: total, begun: now, told: now, terminal: isTerminal(a.err), quiet: a.problems}
}

func (b *bar) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	now := time.Now()
	pause := barLines
	if b.terminal {
		pause = barEvery
	}
	if b.quiet || now.Sub(b.begun) < barDelay || now.Sub(b.told) < pause {
		return
	}
	b.told = now
	line := barText(b.what, b.done, b.total, now.Sub(b.begun))
	if b.terminal {
		fmt.Fprint(b.app.err, "\r\x1b[K"+line)
		return
	}
	fmt.Fprintln(b.app.err, line)
}

// finish takes the bar away; who uses it says how it went.
func (b *bar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.terminal && !b.quiet {
		fmt.Fprint(b.app.err, "\r\x1b[K")
	}
}

func barText(what string, done, total int, took time.Duration) string {
	const wide = 24
	full := wide * done / max(1, total)
	rate := float64(done) / max(took.Seconds(), 0.001)
	text := fmt.Sprintf("[%s%s] %d of %d %s, %.0f/s", strings.Repeat("#", full), strings.Repeat(".", wide-full), done, total, what, rate)
	if left := total - done; left > 0 && rate > 0 {
		text += fmt.Sprintf(", %s left", roughly(time.Duration(float64(left)/rate*float64(time.Second))))
	}
	return text
}
