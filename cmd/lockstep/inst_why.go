package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) instWhy(server *remoteFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "why ID", Short: "Tell why an instance does not go on", Args: exactly("the id of an instance"),
		Long: "Why tells what an instance waits for, which events nearly matched and what differed, and when it wakes up; of a failed one,\n" +
			"where it failed and what was seen there.",
		Example: `  lockstep inst why ID`,
	}
	output := outputFlag(cmd, "format", "table", "json", "yaml")
	cmd.ValidArgsFunction = a.completeInstances(server, "")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		why, err := r.GetWhy(r.ctx, args[0])
		if err != nil {
			return err
		}
		if output.value != "table" {
			return writeValue(a.out, why, output.value)
		}
		for _, line := range whyLines(why, time.Now()) {
			if _, err := fmt.Fprintln(a.out, plain(line)); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// whyLines tell people why an instance does not go on.
func whyLines(w client.Why, now time.Time) []string {
	lines := []string{w.Summary}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if w.Quarantine != "" {
		add("set aside: %s", firstLine(w.Quarantine))
	}
	for _, wait := range w.Waits {
		lines = append(lines, waitLines(w.Instance, wait, now)...)
	}
	for _, miss := range w.NearMisses {
		add("not %q: event %s from %s, type %s, of %s", miss.Name, miss.Event.ID, miss.Event.Source, miss.Event.Type, instant(miss.Event.Received))
		add("  %s", miss.Why)
	}
	if w.Error != nil {
		lines = append(lines, faultLines(w.Error)...)
	}
	if !w.NextWake.IsZero() {
		add("next wake-up: %s", until(w.NextWake, now))
	}
	return lines
}

// until is an instant, and how far it is.
func until(t, now time.Time) string {
	if !t.After(now) {
		return instant(t) + " (due)"
	}
	return fmt.Sprintf("%s (in %s)", instant(t), humanDuration(t.Sub(now).Round(time.Second)))
}

func waitLines(instance string, w client.Wait, now time.Time) []string {
	place := ""
	if w.Node != "" {
		place = fmt.Sprintf(" in %q", w.Node)
	}
	var lines []string
	switch w.Kind {
	case "call":
		if w.Client != "" {
			lines = append(lines, fmt.Sprintf("waits%s for job %s of client %q, which is in %s", place, w.Child, w.Client, w.State))
			break
		}
		line := fmt.Sprintf("waits%s for the answer of function %q", place, w.Function)
		if w.Attempt > 1 {
			line += fmt.Sprintf(", attempt %d", w.Attempt)
		}
		lines = append(lines, line)
		if len(w.Arguments) > 0 {
			lines = append(lines, "  arguments "+short(string(w.Arguments)))
		}
		if w.Parked {
			lines = append(lines, fmt.Sprintf("  nothing here can carry it out; answer with: lockstep inst answer %s %s --result '{…}'", instance, w.Ticket))
		}
	case "event", "listen":
		lines = append(lines, fmt.Sprintf("waits%s for event %q%s", place, w.Event, matchText(w.Match)))
	case "child":
		lines = append(lines, fmt.Sprintf("waits%s for instance %s", place, w.Child))
	case "offer":
		if w.Choice != "" && w.Choice == w.Node { // a job takes reports at any time: that is not what it waits for
			return nil
		}
		if w.Actor == "" {
			lines = append(lines, fmt.Sprintf("waits%s for someone to choose", place))
			break
		}
		lines = append(lines, fmt.Sprintf("waits%s for %s to choose %s", place, w.Actor, w.Choice))
	default:
		what := map[string]string{"timer": "for a delay", "deadline": "at most", "total": "at most, in all", "retry": "for the next attempt"}[w.Kind]
		if what == "" {
			what = "(" + w.Kind + ")"
		}
		lines = append(lines, fmt.Sprintf("waits%s %s until %s", place, what, until(w.At, now)))
		return lines
	}
	if !w.At.IsZero() {
		lines = append(lines, "  until "+until(w.At, now))
	}
	return lines
}

// matchText is what an event must have.
func matchText(m *client.Match) string {
	if m == nil {
		return ""
	}
	var parts []string
	for _, pair := range [][2]string{{"type", m.Type}, {"source", m.Source}} {
		if pair[1] != "" {
			parts = append(parts, pair[0]+" "+pair[1])
		}
	}
	for _, attribute := range m.Attributes {
		switch {
		case attribute.Impossible:
			parts = append(parts, attribute.Name+" equal to a value that does not exist, so no event can match")
		case attribute.Value == nil:
			parts = append(parts, attribute.Name+" of any value")
		default:
			parts = append(parts, fmt.Sprintf("%s = %q", attribute.Name, *attribute.Value))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// faultLines tell where a fault arose and what was seen there.
func faultLines(f *client.Fault) []string {
	lines := []string{"failed" + inState(f.Node) + ": " + faultText(f)}
	if f.Place != nil {
		lines = append(lines, fmt.Sprintf("  at line %d, column %d of the definition", f.Place.Line, f.Place.Column))
	}
	for _, trail := range f.Trail {
		line := fmt.Sprintf("  through workflow %q%s", trail.Workflow, inState(trail.Node))
		if trail.Place != nil {
			line += fmt.Sprintf(", line %d", trail.Place.Line)
		}
		lines = append(lines, line)
	}
	for _, seen := range []struct {
		what string
		data client.Data
	}{{"the arguments were", f.Args}, {"the data was", f.Data}, {"the state's data was", f.State}} {
		if len(seen.data) > 0 && string(seen.data) != "null" {
			lines = append(lines, "  "+seen.what+" "+short(string(seen.data)))
		}
	}
	return lines
}

// short is the beginning of long text.
func short(text string) string {
	const most = 500
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
