package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// bar shows the progress of long work: how much is done, how fast, and the remaining time. On a terminal it
// stays on one line; elsewhere it adds a line now and then.
type bar struct {
	mu       sync.Mutex
	app      *App
	what     string
	total    int
	done     int
	begun    time.Time
	shown    time.Time
	terminal bool
	quiet    bool
}

const (
	barDelay = 300 * time.Millisecond // shorter work needs no bar
	barEvery = 100 * time.Millisecond
	barLines = 10 * time.Second // between lines where there is no terminal
)

// NewBar starts a bar of total steps.
func NewBar(a *App, what string, total int) *bar {
	now := time.Now()
	return &bar{app: a, what: what, total: total, begun: now, shown: now, terminal: IsTerminal(a.Err), quiet: a.Problems}
}

// Add counts n steps that are done.
func (b *bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	now := time.Now()
	pause := barLines
	if b.terminal {
		pause = barEvery
	}
	if b.quiet || now.Sub(b.begun) < barDelay || now.Sub(b.shown) < pause {
		return
	}
	b.shown = now
	line := barText(b.what, b.done, b.total, now.Sub(b.begun))
	if b.terminal {
		fmt.Fprint(b.app.Err, "\r\x1b[K"+line)
		return
	}
	fmt.Fprintln(b.app.Err, line)
}

// Finish removes the bar; the caller reports the result.
func (b *bar) Finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.terminal && !b.quiet {
		fmt.Fprint(b.app.Err, "\r\x1b[K")
	}
}

func barText(what string, done, total int, took time.Duration) string {
	return barLine(" "+what, done, total, float64(done)/max(took.Seconds(), 0.001))
}

// barLine is a bar, how much is done, how many per second, and the remaining time.
func barLine(what string, done, total int, rate float64) string {
	const wide = 24
	full := min(wide*done/max(1, total), wide)
	text := fmt.Sprintf("[%s%s] %s of %s%s, %.0f/s", strings.Repeat("#", full), strings.Repeat(".", wide-full), Grouped(done), Grouped(total), what, rate)
	if left := total - done; left > 0 && rate > 0 {
		text += fmt.Sprintf(", %s left", roughly(time.Duration(float64(left)/rate*float64(time.Second))))
	}
	return text
}
