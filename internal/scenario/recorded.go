package scenario

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

// Recording is an instance with its whole history.
type Recording struct {
	Instance api.Instance
	File     string // of the definition; "": it was deployed without a name
	Records  []api.Record
}

// file is the name of the definition's file.
func (r Recording) file() string { return cmp.Or(r.File, r.Instance.Definition.ID+".yaml") }

// CanRecord reports whether a run can be written as a scenario, which knows neither cancelling nor skipping.
func CanRecord(in api.Instance) bool {
	return in.Job != nil || in.Status == api.Completed || in.Status == api.Failed
}

// Recorded writes a run as a scenario file: the input, how functions answered, which events came when, and what came of
// it. Children are the instances that the run started, and theirs.
func Recorded(run Recording, children []Recording) (name string, text []byte) {
	in := run.Instance
	part := cut(run.Records)
	files := []string{run.file()}
	for _, c := range children {
		if file := c.file(); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	name = FileName(in.Definition.ID)
	var b recording
	b.line("# Recorded from instance %s of %s@%s.", in.ID, in.Definition.ID, in.Definition.Version)
	b.line("# Put it beside %s and run: lockstep test .", strings.Join(files, " and "))
	if part.note != "" {
		b.line("# %s", part.note)
	}
	if len(files) == 1 {
		b.line("workflow: %s", compact(files[0]))
	} else {
		b.line("workflow: %s", compact(files))
	}
	b.line("scenarios:")
	b.line("- name: %s", compact(fmt.Sprintf("%s as instance %s", ending(in, part.kept), in.ID)))
	begin := in.Created
	if len(run.Records) > 0 {
		begin = run.Records[0].Time
	}
	b.line("  clock: %s", compact(begin))
	since := newElapsed(begin, run.Records, part.dropped)
	if in.Job != nil {
		b.job(in, part.kept, since)
	} else {
		b.workflow(part.kept, children, since)
	}
	b.expectation(in, part.kept)
	return name, b.Bytes()
}

// FileName is the name of a scenario file of a definition.
func FileName(id string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, id)
	return safe + "_test.yaml"
}

func ending(in api.Instance, kept []api.Record) api.Status {
	if n := len(kept); n > 0 && kept[n-1].Type == api.RecordFinished {
		return kept[n-1].Status
	}
	return in.Status
}

// kept is the part of a history that a scenario can repeat.
type kept struct {
	kept    []api.Record
	dropped []api.Record // of calls that failed and were retried by hand
	note    string
}

// cut leaves out what was done by hand where the run is the same without it; otherwise it ends there.
func cut(records []api.Record) kept {
	dropped := map[int64]bool{}
	part := kept{}
	end := len(records)
	for i, r := range records {
		if r.Type != api.RecordControl || r.Name == api.VerbPause || r.Name == api.VerbResume {
			continue
		}
		gone := retried(records[:i], r)
		if gone == nil {
			end = i
			part.note = fmt.Sprintf("It ends where somebody intervened (%s), which a scenario cannot repeat.", r.Name)
			break
		}
		for _, g := range gone {
			dropped[g.Seq] = true
		}
	}
	for i, r := range records {
		switch {
		case dropped[r.Seq]:
			part.dropped = append(part.dropped, r)
		case i < end:
			part.kept = append(part.kept, r)
		}
	}
	return part
}

// retried are the records of a call that failed the instance and was retried by hand with the same data; nil: it was not so.
func retried(before []api.Record, control api.Record) []api.Record {
	if control.Name != api.VerbRetry || control.Data != nil || len(before) == 0 || before[len(before)-1].Type != api.RecordFinished {
		return nil
	}
	failed := lastOf(before, func(r api.Record) bool { return r.Type == api.RecordCallFailed })
	if failed == nil {
		return nil
	}
	out := []api.Record{*failed, before[len(before)-1], control}
	called := lastOf(before, func(r api.Record) bool { return r.Type == api.RecordCalled && r.Ticket == failed.Ticket })
	if called != nil {
		out = append(out, *called)
	}
	return out
}

func lastOf(records []api.Record, is func(api.Record) bool) *api.Record {
	for i := len(records) - 1; i >= 0; i-- {
		if is(records[i]) {
			return &records[i]
		}
	}
	return nil
}

// elapsed is the time since the start, without that between a failure and its retry by hand.
type elapsed struct {
	start time.Time
	gaps  []gap
}

type gap struct{ from, to time.Time }

func newElapsed(start time.Time, records, dropped []api.Record) elapsed {
	e := elapsed{start: start}
	for i, r := range dropped {
		if r.Type != api.RecordControl {
			continue
		}
		if called := lastOf(dropped[:i], func(r api.Record) bool { return r.Type == api.RecordCalled }); called != nil {
			e.gaps = append(e.gaps, gap{called.Time, r.Time})
		}
	}
	return e
}

func (e elapsed) at(t time.Time) time.Duration {
	d := t.Sub(e.start)
	for _, g := range e.gaps {
		if !t.Before(g.to) {
			d -= g.to.Sub(g.from)
		}
	}
	return max(d, 0)
}

// duration is a time as an ISO 8601 duration, in milliseconds as history has it.
func duration(d time.Duration) string {
	return fmt.Sprintf("PT%vS", float64(d.Milliseconds())/1000)
}

// recording is the text of a scenario file. YAML takes JSON as it is.
type recording struct{ bytes.Buffer }

func (b *recording) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// compact is a value as JSON in one line.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // values of the API that came from JSON, and texts
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// one is a record of the run, or of one of its children.
type one struct {
	api.Record
	run int
}

func (b *recording) workflow(own []api.Record, children []Recording, since elapsed) {
	if len(own) > 0 && !byEvent(own) {
		b.line("  input: %s", compact(orObject(own[0].Data)))
	}
	var all []one
	for _, r := range own {
		all = append(all, one{r, 0})
	}
	for i, c := range children {
		for _, r := range c.Records {
			all = append(all, one{r, i + 1})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return a.Time.Compare(b.Time) })
	b.mocks(all)
	b.events(all, since)
}

// byEvent reports whether an event started the run: it was consumed before anything was entered.
func byEvent(own []api.Record) bool {
	for _, r := range own {
		switch r.Type {
		case api.RecordConsumed:
			return true
		case api.RecordEntered:
			return false
		}
	}
	return false
}

func orObject(d api.Data) any {
	if d == nil {
		return map[string]any{}
	}
	return d
}

func (b *recording) mocks(all []one) {
	var names []string
	answers := map[string][]string{}
	for i, r := range all {
		if r.Type != api.RecordCalled {
			continue
		}
		if answers[r.Name] == nil {
			names = append(names, r.Name)
		}
		answers[r.Name] = append(answers[r.Name], compact(mockOf(r, answerTo(all[i+1:], r))))
	}
	if len(names) > 0 {
		b.line("  mocks:")
	}
	for _, name := range names {
		if len(answers[name]) == 1 {
			b.line("    %s: %s", compact(name), answers[name][0])
			continue
		}
		b.line("    %s:", compact(name))
		for _, a := range answers[name] {
			b.line("    - %s", a)
		}
	}
}

func answerTo(later []one, called one) *one {
	for i, r := range later {
		if r.run == called.run && r.Ticket == called.Ticket && (r.Type == api.RecordReturned || r.Type == api.RecordCallFailed) {
			return &later[i]
		}
	}
	return nil
}

// recordedAnswer is an answer as scenario files have it.
type recordedAnswer struct {
	Delay  string         `json:"delay,omitempty"`
	Result any            `json:"result,omitempty"`
	Error  map[string]any `json:"error,omitempty"`
}

func mockOf(called one, answer *one) recordedAnswer {
	if answer == nil {
		return recordedAnswer{Delay: "P1D", Result: map[string]any{}} // a timeout came first
	}
	m := recordedAnswer{}
	if d := answer.Time.Sub(called.Time); d >= time.Millisecond {
		m.Delay = duration(d)
	}
	if answer.Type == api.RecordCallFailed {
		m.Error = errorOf(answer.Error)
	} else if m.Result = any(answer.Data); answer.Data == nil {
		m.Result = json.RawMessage("null")
	}
	return m
}

func errorOf(f *api.Fault) map[string]any {
	if f == nil {
		return map[string]any{"name": "Error"}
	}
	out := map[string]any{"name": f.Name}
	for key, value := range map[string]string{"code": f.Code, "status": f.Status, "title": f.Title, "type": f.Type, "detail": f.Detail} {
		if value != "" {
			out[key] = value
		}
	}
	if f.Data != nil {
		out["data"] = f.Data
	}
	return out
}

func (b *recording) events(all []one, since elapsed) {
	seen := map[string]bool{}
	for _, r := range all {
		var e struct{ Source, ID string }
		if r.Type != api.RecordConsumed || json.Unmarshal(r.Data, &e) != nil || seen[compact(e)] {
			continue
		}
		if len(seen) == 0 {
			b.line("  events:")
		}
		seen[compact(e)] = true
		b.line("  - {at: %s, event: %s}", duration(since.at(r.Time)), compact(r.Data))
	}
}

func (b *recording) job(in api.Instance, own []api.Record, since elapsed) {
	var started struct {
		ClientID   string
		Definition json.RawMessage
	}
	if len(own) > 0 {
		_ = json.Unmarshal(own[0].Data, &started) // without it, the instance says the client
	}
	if started.ClientID == "" {
		started.ClientID = in.Job.Client
	}
	if started.Definition == nil {
		started.Definition = json.RawMessage("{}")
	}
	b.line("  client: %s", compact(started.ClientID))
	b.line("  input: %s", compact(started.Definition))
	first := true
	for _, r := range own {
		if r.Type != api.RecordTaken {
			continue
		}
		if first {
			b.line("  takes:")
			first = false
		}
		take := struct {
			At       string   `json:"at"`
			Actor    string   `json:"actor"`
			State    string   `json:"state"`
			Progress api.Data `json:"progress,omitempty"`
			Message  api.Data `json:"message,omitempty"`
			Context  api.Data `json:"context,omitempty"`
		}{At: duration(since.at(r.Time))}
		_ = json.Unmarshal(r.Data, &take) // absent: nothing more was sent
		take.Actor, take.State = r.Name, r.Text
		b.line("  - %s", compact(take))
	}
}

func (b *recording) expectation(in api.Instance, own []api.Record) {
	path := []string{}
	for _, r := range own {
		if r.Type == api.RecordEntered && r.Depth == 0 {
			path = append(path, r.Node)
		}
	}
	b.line("  expect:")
	if in.Job != nil {
		status := api.Waiting
		if in.Status == api.Completed {
			status = api.Completed
		}
		b.line("    status: %s", status)
		b.line("    state: %s", compact(in.Job.State))
		b.line("    path: %s", compact(path))
		return
	}
	end := lastOf(own, func(r api.Record) bool { return r.Type == api.RecordFinished })
	b.line("    status: %s", ending(in, own))
	b.line("    path: %s", compact(path))
	if end == nil {
		return
	}
	if end.Status == api.Completed {
		output := end.Data
		if output == nil {
			output = api.Data("null")
		}
		b.line("    output: %s", compact(output))
	}
	if end.Error != nil {
		b.line("    error: %s", compact(struct {
			Name string `json:"name"`
			Code string `json:"code,omitempty"`
		}{end.Error.Name, end.Error.Code}))
	}
}
