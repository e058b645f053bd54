package serve

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"
)

// TestJournal: lines for the journal have a priority and no time.
func TestJournal(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, "journald", slog.LevelDebug)
	log.Debug("d")
	log.Info("i\nj", "a", 1)
	log.With("b", 2).Warn("w")
	log.WithGroup("g").Error("e", "time", 3)
	want := "<7>msg=d\n<6>msg=\"i\\nj\" a=1\n<4>msg=w b=2\n<3>msg=e g.time=3\n"
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	out.Reset()
	newLogger(&out, "auto", slog.LevelInfo).Info("x")
	if !regexp.MustCompile(`^time=\S+ level=INFO msg=x\n$`).MatchString(out.String()) {
		t.Errorf("auto is %q", out.String())
	}
}
