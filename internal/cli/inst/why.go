package inst

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func why(a *cli.App, server *remote.Flags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "why ID", Short: "Explain why an instance does not continue", Args: cli.Exactly("the id of an instance"),
		Long: "Why shows what an instance waits for, which events nearly matched and what differed, and when it wakes up. For a failed\n" +
			"instance it shows where it failed, and the data there. Waits that are alike are one line; --all shows each of them.",
		Example: `  lockstep inst why ID
  lockstep inst why ID --all`,
	}
	output := cli.FormatFlag(cmd, "table", "json", "yaml")
	cmd.Flags().BoolVar(&all, "all", false, "show each wait")
	cmd.ValidArgsFunction = remote.CompleteInstances(server, "")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		why, err := r.GetWhy(r.Ctx, args[0])
		if err != nil {
			return err
		}
		if output.Value != "table" {
			return output.WriteData(a.Out, why)
		}
		for _, line := range whyLines(why, all, time.Now()) {
			if _, err := fmt.Fprintln(a.Out, cli.Plain(line)); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// whyLines explain to people why an instance does not continue.
func whyLines(w api.Why, all bool, now time.Time) []string {
	lines := []string{w.Summary} // of one in quarantine it says why
	if hasFailed(w) {
		lines = faultLines("It failed", w.Error)
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range w.Progress {
		if p.Failed == 0 && !w.Status.Final() {
			continue // the summary tells it
		}
		add("%s: %s", p.State, progressText(p))
		lines = append(lines, failedItems(w, p, all)...)
	}
	for _, g := range w.Groups {
		if g.Count > 1 && !all && !strings.Contains(w.Summary, g.Text) {
			place := ""
			if g.State != "" {
				place = fmt.Sprintf("in %q: ", g.State)
			}
			add("%s%s", place, g.Text)
		}
	}
	for _, wait := range w.Waits {
		if all || aloneInGroup(w.Groups, wait) {
			lines = append(lines, waitLines(w.Instance, wait, now)...)
		}
	}
	if all && w.Omitted > 0 {
		add("and %s more; \"lockstep inst calls %s\" lists all calls", cli.Grouped(w.Omitted), w.Instance)
	}
	for _, miss := range w.NearMisses {
		add("not %q: event %s from %s, type %s, of %s", miss.Name, miss.Event.ID, miss.Event.Source, miss.Event.Type, cli.Instant(miss.Event.Received))
		add("  %s", miss.Why)
	}
	if w.OtherEvents > 0 {
		add("%s of these types for other instances", cli.Plural(w.OtherEvents, "further event"))
	}
	if w.Error != nil && !hasFailed(w) {
		lines = append(lines, faultLines("failed", w.Error)...)
	}
	if !w.NextWake.IsZero() {
		add("next wake-up: %s", until(w.NextWake, now))
	}
	return lines
}

// hasFailed reports whether an instance failed: then the fault says more than the summary.
func hasFailed(w api.Why) bool { return w.Error != nil && w.Status == api.Failed }

// failedItems are the items of a foreach that failed, without the one that the failure of the instance names.
func failedItems(w api.Why, p api.Progress, all bool) []string {
	others := slices.DeleteFunc(slices.Clone(p.Failures), func(f api.FailedItem) bool { return hasFailed(w) && sameFailure(w.Error, f) })
	told := len(p.Failures) - len(others)
	var lines []string
	for i, f := range others {
		if i == maxFailedShown && !all {
			return append(lines, fmt.Sprintf("  and %s more failed; --all lists them", cli.Grouped(p.Failed-told-i)))
		}
		lines = append(lines, "  failed item "+failedItemText(f))
	}
	return lines
}

// sameFailure reports whether a fault is that of a failed item.
func sameFailure(fault *api.Fault, f api.FailedItem) bool {
	return fault.Item != nil && fault.Item.Index == f.Index && f.Error != nil &&
		f.Error.Node == fault.Node && f.Error.Name == fault.Name && f.Error.Detail == fault.Detail
}

// maxFailedShown is how many failed items are listed without --all.
const maxFailedShown = 5

// aloneInGroup reports whether nothing else that the instance waits for is like a wait.
func aloneInGroup(groups []api.WaitGroup, w api.Wait) bool {
	for _, g := range groups {
		if g.Kind == w.Kind && g.Function == w.Function && g.Event == w.Event && g.Parked == w.Parked && g.Timeout == w.Timeout &&
			g.Then == w.Then && g.Count == 1 && g.At.Equal(w.At) {
			return true
		}
	}
	return false
}

// until is an instant, and the time until then.
func until(t, now time.Time) string {
	if !t.After(now) {
		return cli.Instant(t) + " (due)"
	}
	return fmt.Sprintf("%s (in %s)", cli.Instant(t), cli.HumanDuration(t.Sub(now).Round(time.Second)))
}

func waitLines(instance string, w api.Wait, now time.Time) []string {
	place := ""
	if w.Node != "" {
		place = fmt.Sprintf(" in %q", w.Node)
	}
	var lines []string
	switch w.Kind {
	case api.WaitCall:
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
			lines = append(lines, "  arguments "+cli.Short(string(w.Arguments)))
		}
		if w.Parked {
			lines = append(lines, fmt.Sprintf("  it has no implementation; answer with: lockstep inst answer %s %s --result '{…}'", instance, w.Ticket))
		}
	case api.WaitEvent, api.WaitListen:
		lines = append(lines, fmt.Sprintf("waits%s for event %q%s", place, w.Event, matchText(w.Match)))
	case api.WaitChild:
		lines = append(lines, fmt.Sprintf("waits%s for instance %s", place, w.Child))
	case api.WaitOffer:
		if w.Choice != "" && w.Choice == w.Node { // a job accepts reports at any time: it does not wait for them
			return nil
		}
		if w.Actor == "" {
			lines = append(lines, fmt.Sprintf("waits%s for a choice", place))
			break
		}
		lines = append(lines, fmt.Sprintf("waits%s for %s", place, w.Move()))
	default:
		if w.Timeout {
			line := fmt.Sprintf("times out%s at %s", place, until(w.At, now))
			if w.Then != "" {
				line += ", then → " + w.Then
			}
			return append(lines, line)
		}
		what := map[string]string{api.WaitTimer: "for a delay", api.WaitRetry: "for the next attempt"}[w.Kind]
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

// matchText describes the events that match.
func matchText(m *api.Match) string {
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

// faultLines describe a fault: that it failed, where, and the data there.
func faultLines(failed string, f *api.Fault) []string {
	lines := []string{failed + cli.InState(f.Node) + ": " + faultText(f)}
	if f.Place != nil {
		lines = append(lines, fmt.Sprintf("  at line %d, column %d of the definition", f.Place.Line, f.Place.Column))
	}
	for _, trail := range f.Trail {
		line := fmt.Sprintf("  through workflow %q%s", trail.Workflow, cli.InState(trail.Node))
		if trail.Place != nil {
			line += fmt.Sprintf(", line %d", trail.Place.Line)
		}
		lines = append(lines, line)
	}
	for _, seen := range []struct {
		what string
		data api.Data
	}{{"the arguments were", f.Args}, {"the data was", f.Data}, {"the state's data was", f.State}} {
		if len(seen.data) > 0 && string(seen.data) != "null" {
			lines = append(lines, "  "+seen.what+" "+cli.Short(string(seen.data)))
		}
	}
	return lines
}
