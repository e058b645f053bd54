package sim

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// Files writes a case of 1.0 as files for `lockstep test`: the definitions, the one under test first, and scenario.yaml. What is
// expected is left out.
func (c *Case) Files() (names []string, files map[string]string) {
	files = map[string]string{}
	add := func(name string, v any) {
		text, err := yaml.Marshal(v)
		if err != nil {
			panic("sim: " + err.Error())
		}
		names = append(names, name)
		files[name] = string(text)
	}
	add("workflow.yaml", plain(c.Def))
	for i, def := range c.Subs {
		add(fmt.Sprintf("sub%d.yaml", i+1), plain(def))
	}
	scenario := map[string]any{"name": fmt.Sprintf("seed %d", c.Seed), "clock": Epoch.Format("2006-01-02T15:04:05Z")}
	if c.ByHand {
		scenario["input"] = plain(c.Input)
	}
	mocks := map[string]any{}
	for _, m := range c.Mocks {
		var answers []any
		for _, a := range m.Answers {
			answers = append(answers, a.plain())
		}
		mocks[m.Function] = answers
	}
	if len(mocks) > 0 {
		scenario["mocks"] = mocks
	}
	var events []any
	for _, e := range c.Events {
		events = append(events, map[string]any{"at": duration(e.At), "event": plain(e.Event)})
	}
	if len(events) > 0 {
		scenario["events"] = events
	}
	workflows := append([]string{}, names...)
	add("scenario.yaml", map[string]any{"workflow": workflows, "scenarios": []any{scenario}})
	return names, files
}

// plain is an answer as scenario files write it.
func (a Answer) plain() map[string]any {
	out := map[string]any{}
	switch {
	case a.Error != nil:
		out["error"] = a.Error.object()
	case a.Echo:
		out["echo"] = true
	default:
		out["result"] = plain(a.Result)
	}
	if a.Delay > 0 {
		out["delay"] = duration(a.Delay)
	}
	return out
}
