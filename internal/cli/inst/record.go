package inst

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

// line formats a record: the time, what it is about, and what happened.
func line(rec api.Record, of ...string) string {
	head := strings.Join(append([]string{clock(rec.Time)}, of...), "  ")
	text := fmt.Sprintf("%s  %-12s %s%s  %s", head, rec.Type, strings.Repeat("  ", rec.Depth), rec.Node, recordText(rec))
	return cli.Plain(strings.TrimRight(text, " "))
}

// historyRecord converts a record of the stream, which has less, to one of the history.
func historyRecord(rec api.StreamRecord) api.Record {
	out := api.Record{
		Time: rec.Time, Type: rec.Type, Node: rec.Node, Name: rec.Name, Attempt: rec.Attempt,
		At: rec.At, Text: rec.Text, Status: rec.Status,
	}
	if rec.Error != "" {
		out.Error = &api.Fault{Name: rec.Error}
	}
	return out
}

// recordText is the content of a record besides its type and state.
func recordText(rec api.Record) string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(rec.Name)
	if rec.Attempt > 1 {
		add(fmt.Sprintf("attempt %d", rec.Attempt))
	}
	add(rec.Text)
	add(string(rec.Status))
	if rec.Error != nil {
		add(faultText(rec.Error))
	}
	if !rec.At.IsZero() {
		add("until " + rec.At.Local().Format(time.DateTime))
	}
	return strings.Join(parts, ", ")
}
