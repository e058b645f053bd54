package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// decoder turns a document into a File and reports every mistake on the way.
// A value that is reported is left zero, and decoding goes on.
type decoder struct {
	report dialect.Reporter
	dir    string                               // of the scenario file
	asked  func(n *dialect.Node, keys []string) // where set, told of every object: for tests
}

func (d *decoder) file(f *File, root *dialect.Node) {
	if !d.object(root, "a scenario file", "workflow", "scenarios") {
		return
	}
	f.Workflows = d.workflows(root)
	list := d.need(root, "scenarios", "a scenario file")
	if list == nil || !d.kind(list, expr.KindArray, "scenarios") {
		return
	}
	if len(list.Items) == 0 {
		d.report.Errorf(list, codeMissing, "scenarios is empty: nothing would be tested")
	}
	names := map[string]bool{}
	for _, item := range list.Items {
		s := d.scenario(item)
		if s.Name != "" && names[s.Name] {
			d.report.Errorf(item.Get("name"), codeRepeated, "another scenario of this file is already called %q", s.Name)
		}
		names[s.Name] = true
		f.Scenarios = append(f.Scenarios, s)
	}
}

func (d *decoder) workflows(root *dialect.Node) []Workflow {
	n := d.need(root, "workflow", "a scenario file")
	if n == nil {
		return nil
	}
	items := []*dialect.Node{n}
	if n.Is(expr.KindArray) {
		items = n.Items
		if len(items) == 0 {
			d.report.Errorf(n, codeMissing, "workflow is an empty list; name the definition to test")
		}
	}
	var out []Workflow
	for _, item := range items {
		path := d.text(item, "the path of a definition")
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.dir, filepath.FromSlash(path))
		}
		out = append(out, Workflow{Path: path, At: item.Span()})
	}
	return out
}

func (d *decoder) scenario(n *dialect.Node) Scenario {
	s := Scenario{Clock: defaultClock, At: n.Span()}
	const what = "a scenario"
	if !d.object(n, what, "name", "clock", "client", "input", "mocks", "events", "takes", "expect") {
		return s
	}
	if name := d.need(n, "name", what); name != nil {
		s.Name = d.text(name, "name")
		s.At = name.Span()
	}
	if clock := n.Get("clock"); clock != nil {
		s.Clock = d.instant(clock)
	}
	if input := n.Get("input"); input != nil {
		s.Input, s.HasInput = input.Value(), true
	}
	s.Mocks = d.mocks(n.Get("mocks"))
	s.Events = d.events(n.Get("events"))
	for _, e := range s.Events {
		if at := e.After.AddTo(s.Clock); !Representable(at) {
			d.report.Errorf(e.At, codeValue, "the event comes at %s, beyond the year 2261 (limit timer-horizon)", at.Format(time.RFC3339))
		}
	}
	if client := n.Get("client"); client != nil {
		s.Client = d.text(client, "client")
	}
	s.Takes = d.takes(n.Get("takes"), s.Clock)
	if expect := d.need(n, "expect", what); expect != nil {
		s.Expect = d.expect(expect)
	}
	return s
}

func (d *decoder) expect(n *dialect.Node) Expect {
	e := Expect{At: n.KeySpan()}
	const what = "expect"
	if !d.object(n, what, "status", "output", "error", "path", "calls", "produced", "state", "elapsed", "instances") {
		return e
	}
	if len(n.Members) == 0 {
		d.report.Errorf(n, codeMissing, "expect is empty: nothing would be tested").WithHint("write at least `status: completed`")
	}
	if status := n.Get("status"); status != nil {
		e.Status = d.oneOf(status, "status", statuses)
	}
	if output := n.Get("output"); output != nil {
		v := output.Value()
		e.Output = &v
	}
	if fault := n.Get("error"); fault != nil && d.object(fault, "error", "name", "code", "status", "title", "type", "detail", "data", "node") {
		e.Error = d.expectError(n, fault)
	}
	if path := n.Get("path"); path != nil && d.kind(path, expr.KindArray, "path") {
		names := []string{}
		for _, item := range path.Items {
			names = append(names, d.text(item, "a state in path"))
		}
		e.Path = &names
	}
	e.Calls = d.expectCalls(n.Get("calls"))
	if produced := n.Get("produced"); produced != nil && d.kind(produced, expr.KindArray, "produced") {
		events := []expr.Value{}
		for _, item := range produced.Items {
			if d.kind(item, expr.KindObject, "a produced event") {
				events = append(events, item.Value())
			}
		}
		e.Produced = &events
	}
	if state := n.Get("state"); state != nil {
		e.State = d.text(state, "state")
	}
	if elapsed := n.Get("elapsed"); elapsed != nil {
		span := d.duration(elapsed, "elapsed")
		e.Elapsed = &span
	}
	if count := n.Get("instances"); count != nil {
		if i, ok := count.Int(); ok && i >= 0 {
			e.Instances = &i
		} else {
			d.report.Errorf(count, codeKind, "instances must be a whole number from 0 on")
		}
	}
	return e
}

// expectError reads the error of an expectation; it only goes with an instance
// that failed, or with a start that was refused.
func (d *decoder) expectError(expect, fault *dialect.Node) *expr.Value {
	if status, ok := expect.Get("status").Str(); ok && status != StatusFailed && status != StatusNone {
		d.report.Errorf(fault.KeySpan(), codeConflict, "error is given, but status is %q", status).WithHint("write `status: failed`")
	}
	members := []expr.Member{}
	for _, m := range fault.Members {
		v := m.Value()
		if v.Kind() == expr.KindNumber && (m.Name() == "code" || m.Name() == "status") { // code: 402 is the text "402"
			v = expr.String(v.NumberText())
		}
		members = append(members, expr.Member{Key: m.Name(), Value: v})
	}
	v := expr.Object(members...)
	return &v
}

func (d *decoder) expectCalls(n *dialect.Node) *[]ExpectCall {
	if n == nil || !d.kind(n, expr.KindArray, "calls") {
		return nil
	}
	calls := []ExpectCall{}
	for _, item := range n.Items {
		const what = "an expected call"
		if !d.object(item, what, "function", "arguments") {
			continue
		}
		var call ExpectCall
		if function := d.need(item, "function", what); function != nil {
			call.Function = d.text(function, "function")
		}
		if args := item.Get("arguments"); args != nil {
			v := args.Value()
			call.Arguments = &v
		}
		calls = append(calls, call)
	}
	return &calls
}

// object reports a value that is not an object, and keys that it does not know.
func (d *decoder) object(n *dialect.Node, what string, keys ...string) bool {
	if !d.kind(n, expr.KindObject, what) {
		return false
	}
	if d.asked != nil {
		d.asked(n, keys)
	}
	for _, m := range n.Members {
		if !slices.Contains(keys, m.Name()) {
			d.report.Errorf(m.KeySpan(), codeUnknownKey, "unknown key %q in %s", m.Name(), what).
				WithHint("known here: %s", strings.Join(keys, ", ")).
				DidYouMean(m.Name(), keys)
		}
	}
	return true
}

func (d *decoder) need(n *dialect.Node, key, what string) *dialect.Node {
	m := n.Get(key)
	if m == nil {
		d.report.Errorf(n, codeMissing, "%s needs the key %q", what, key)
	}
	return m
}

func (d *decoder) kind(n *dialect.Node, kind expr.Kind, what string) bool {
	if n.Is(kind) {
		return true
	}
	d.report.Errorf(n, codeKind, "%s must be %s, not %s", what, article(kind), article(n.Kind))
	return false
}

func article(kind expr.Kind) string {
	switch kind {
	case expr.KindArray, expr.KindObject:
		return "an " + kind.String()
	case expr.KindNull:
		return "null"
	default:
		return "a " + kind.String()
	}
}

func (d *decoder) list(n *dialect.Node, what string) []*dialect.Node {
	if n == nil || !d.kind(n, expr.KindArray, what) {
		return nil
	}
	return n.Items
}

func (d *decoder) text(n *dialect.Node, what string) string {
	if !d.kind(n, expr.KindString, what) {
		return ""
	}
	if n.Text == "" {
		d.report.Errorf(n, codeValue, "%s is empty", what)
	}
	return n.Text
}

func (d *decoder) oneOf(n *dialect.Node, what string, allowed []string) string {
	text := d.text(n, what)
	if text == "" || slices.Contains(allowed, text) {
		return text
	}
	d.report.Errorf(n, codeValue, "%s %q is none of %s", what, text, strings.Join(allowed, ", ")).DidYouMean(text, allowed)
	return ""
}

func (d *decoder) optionalDuration(n *dialect.Node, what string) calendar.Duration {
	if n == nil {
		return calendar.Duration{}
	}
	return d.duration(n, what)
}

func (d *decoder) duration(n *dialect.Node, what string) calendar.Duration {
	if !d.kind(n, expr.KindString, what) {
		return calendar.Duration{}
	}
	span, err := calendar.ParseDuration(n.Text)
	if err != nil {
		d.calendarError(n, what+" is not an ISO 8601 duration", err)
	}
	return span
}

func (d *decoder) instant(n *dialect.Node) time.Time {
	if !d.kind(n, expr.KindString, "clock") {
		return defaultClock
	}
	at, err := calendar.ParseInstant(n.Text)
	if err != nil {
		d.calendarError(n, "clock is not a date and time", err)
		return defaultClock
	}
	if !Representable(at) {
		d.report.Errorf(n, codeValue, "clock is %s; time goes from 1678 to 2261 (limit timer-horizon)", n.Text)
		return defaultClock
	}
	return at
}

// Representable reports whether an instant is one that the engine can count with:
// 64 bits of nanoseconds around 1970, in whole years.
func Representable(at time.Time) bool {
	year := at.UTC().Year()
	return 1678 <= year && year <= 2261
}

func (d *decoder) calendarError(n *dialect.Node, what string, err error) {
	var syntax *calendar.SyntaxError
	if !errors.As(err, &syntax) {
		d.report.Errorf(n, codeValue, "%s: %v", what, err)
		return
	}
	at := d.report.Errorf(n.ColumnIn(syntax.Offset), codeValue, "%s", fmt.Sprintf("%s: %s", what, syntax.Msg))
	if syntax.Hint != "" {
		at.WithHint("%s", syntax.Hint)
	}
}
