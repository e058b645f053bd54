package cli

import (
	"fmt"
	"sync"
	"time"
)

// Meter is how far work is that goes on elsewhere, and is asked about now and then. Its rate counts from the first answer.
type Meter struct {
	begun             time.Time
	from, done, total int
}

// Read notes how much is done. Work that begins again, as after a retry, is measured anew.
func (m *Meter) Read(now time.Time, done, total int) {
	if m.begun.IsZero() || done < m.done || total != m.total {
		m.begun, m.from = now, done
	}
	m.done, m.total = done, total
}

// Text is a bar with count, rate and the remaining time.
func (m *Meter) Text(now time.Time) string {
	rate := float64(m.done-m.from) / max(now.Sub(m.begun).Seconds(), 0.001)
	return barLine("", m.done, m.total, rate)
}

// Gauge shows on a terminal that a command waits: a spinner, then a bar once it is known how much is done. Elsewhere
// it shows nothing.
type Gauge struct {
	app   *App
	what  string
	begun time.Time

	mu    sync.Mutex
	meter *Meter
	note  string

	quit chan struct{} // nil: nothing is shown
	over sync.WaitGroup
	once sync.Once
}

// NewGauge begins to show that a command waits for something.
func NewGauge(a *App, what string) *Gauge {
	return newGauge(a, what, IsTerminal(a.Err) && !a.Problems)
}

func newGauge(a *App, what string, terminal bool) *Gauge {
	g := &Gauge{app: a, what: what, begun: time.Now()}
	if terminal {
		g.quit = make(chan struct{})
		g.over.Go(g.draw)
	}
	return g
}

// Shows reports whether anything is shown, so that it is worth to ask how far the work is.
func (g *Gauge) Shows() bool { return g.quit != nil }

// Set shows how much of the work is done, and a note beside; total 0: that is not known.
func (g *Gauge) Set(done, total int, note string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if total == 0 {
		g.meter = nil
		return
	}
	if g.meter == nil {
		g.meter = &Meter{}
	}
	g.meter.Read(time.Now(), done, total)
	g.note = note
}

// Stop removes what is shown.
func (g *Gauge) Stop() {
	if g.quit != nil {
		g.once.Do(func() { close(g.quit) })
		g.over.Wait()
	}
}

func (g *Gauge) draw() {
	tick := time.NewTicker(barEvery)
	defer tick.Stop()
	shown := false
	for turn := 0; ; turn++ {
		select {
		case <-g.quit:
			if shown {
				fmt.Fprint(g.app.Err, "\r\x1b[K")
			}
			return
		case now := <-tick.C:
			if now.Sub(g.begun) < barDelay {
				continue
			}
			shown = true
			fmt.Fprint(g.app.Err, "\r\x1b[K"+g.text(now, turn))
		}
	}
}

func (g *Gauge) text(now time.Time, turn int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.meter != nil {
		return g.meter.Text(now) + g.note
	}
	return fmt.Sprintf("%c %s, %s", `|/-\`[turn%4], g.what, roughly(now.Sub(g.begun)))
}
