package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Difference says what the kernel did otherwise than the interpreter, "" if nothing.
func Difference(want, got Outcome, err error) string {
	if err != nil {
		return "the kernel fails: " + err.Error()
	}
	want = want.made(got)
	a, b := want.lines(), got.like(want).lines()
	for i := range max(len(a), len(b)) {
		x, y := "nothing more", "nothing more"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("interpreter: %s\nkernel:      %s", x, y)
		}
	}
	return ""
}

// DifferenceInAnyOrder is Difference where nobody says in which order things happen at one instant.
func DifferenceInAnyOrder(want, got Outcome) string {
	all := map[time.Duration]bool{}
	for _, o := range []Outcome{want, got} {
		for _, c := range o.Calls {
			all[c.At] = true
		}
		for _, e := range o.Produced {
			all[e.At] = true
		}
		for _, in := range o.Instances {
			all[in.Created] = true
		}
	}
	want.Mixed = all
	return Difference(want, got, nil)
}

// made returns the outcome without the calls that need not have been made and were not.
func (o Outcome) made(got Outcome) Outcome {
	count := func(calls []Call, c Call) (n int) {
		for _, other := range calls {
			if other.At == c.At && other.Function == c.Function && expr.Equal(other.Args, c.Args) {
				n++
			}
		}
		return n
	}
	for i := 0; i < len(o.Calls); {
		if c := o.Calls[i]; c.Maybe && count(o.Calls, c) > count(got.Calls, c) {
			o.Calls = slices.Delete(slices.Clone(o.Calls), i, i+1)
			continue
		}
		i++
	}
	return o
}

// like returns the outcome with what only the interpreter knows.
func (o Outcome) like(want Outcome) Outcome {
	o.Mixed = want.Mixed
	return o
}

// lines writes an outcome, one observation a line.
func (o Outcome) lines() []string {
	var calls, produced, replies, instances, history []line
	for _, c := range o.Calls {
		calls = append(calls, line{c.At, fmt.Sprintf("%s call %s(%s)", at(c.At), c.Function, canonical(c.Args))})
	}
	for _, e := range o.Produced {
		produced = append(produced, line{e.At, fmt.Sprintf("%s produced %s", at(e.At), canonical(e.Event))})
	}
	for _, in := range o.Instances {
		instances = append(instances, line{in.Created, in.String()})
	}
	for _, r := range o.Replies {
		replies = append(replies, line{r.At, fmt.Sprintf("%s update %s", at(r.At), map[bool]string{true: "taken", false: "refused"}[r.Taken])})
	}
	for i, text := range o.History {
		history = append(history, line{0, fmt.Sprintf("history %d: %s", i, text)})
	}
	var out []string
	for _, list := range [][]line{calls, produced, replies, instances, history} {
		slices.SortStableFunc(list, func(a, b line) int {
			if a.at == b.at && o.Mixed[a.at] {
				return strings.Compare(a.text, b.text)
			}
			return 0 // they come in order of time
		})
		for _, l := range list {
			out = append(out, l.text)
		}
	}
	return out
}

type line struct {
	at   time.Duration
	text string
}

// String writes an instance on one line.
func (in Instance) String() string {
	s := fmt.Sprintf("%s %s, created %s", in.Workflow, in.Status, at(in.Created))
	if in.Status != Waiting {
		s += ", ended " + at(in.Ended)
	}
	s += ", path " + strings.Join(in.Path, " ")
	switch in.Status {
	case Completed:
		s += ", output " + canonical(in.Output)
	case Failed:
		s += ", error " + in.Error
	}
	if in.Job != "" {
		s += ", " + in.Job
	}
	return s
}

// jobText is what is compared of a job.
func jobText(client, state, group string, tags []string) string {
	return fmt.Sprintf("job of %s in state %q of group %q with tags %q", client, state, group, tags)
}

func at(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

func canonical(v expr.Value) string { return string(v.AppendJSON(nil)) }

// String writes an outcome for people.
func (o Outcome) String() string { return strings.Join(o.lines(), "\n") + "\n" }
