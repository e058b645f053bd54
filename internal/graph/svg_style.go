package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// colour is a custom property of the drawing. A page recolours it by setting the
// property on the drawing or on anything in it.
type colour struct{ name, light, dark string }

var colours = []colour{
	{"paper", "#ffffff", "#11151a"},
	{"box", "#ffffff", "#1a2027"},
	{"frame", "#c9d1db", "#3b4652"},
	{"inner", "#f5f7fa", "#212933"},
	{"text", "#1c2530", "#e8ecf1"},
	{"muted", "#5d6977", "#9daab8"},
	{"line", "#5a6675", "#93a1b0"},
	{"error", "#b3261e", "#ff8a7a"},
	{"undo", "#7a4fc4", "#bfa2ff"},
	{"operation", "#2f66c9", "#79a8ff"},
	{"switch", "#a86a09", "#f0b657"},
	{"parallel", "#6d48c9", "#b79bff"},
	{"foreach", "#0b7d80", "#4fcfd1"},
	{"event", "#b83271", "#ff8fc0"},
	{"callback", "#b04a16", "#ffa274"},
	{"delay", "#566476", "#a9b7c6"},
	{"subflow", "#27754a", "#6fd39b"},
	{"inject", "#7b6420", "#d8bd6a"},
	{"other", "#44505e", "#b3bfcc"},
}

// light is a colour's value for programs that do not understand style sheets.
var light = func() map[string]string {
	out := map[string]string{}
	for _, c := range colours {
		out[c.name] = c.light
	}
	out["raise"] = out["error"]
	return out
}()

// accents are the types of states with a colour and a sign of their own.
var accents = []string{"operation", "switch", "parallel", "foreach", "event", "callback", "delay", "subflow", "inject"}

// looks says which type of states a task of Open Workflow 1.0 is coloured like.
var looks = map[string]string{
	"call": "operation", "emit": "event", "for": "foreach", "fork": "parallel", "listen": "event", "raise": "raise",
	"run": "subflow", "set": "inject", "try": "callback", "wait": "delay",
}

// look is the colour and the sign of a type of states.
func look(typ string) (accent, icon string) {
	accent = cmp.Or(looks[typ], "other")
	if slices.Contains(accents, typ) {
		accent = typ
	}
	return accent, cmp.Or(icons[typ], icons[accent])
}

// Stylesheet is the style of the drawings. SVG puts it into each drawing; a page
// whose policy forbids that serves it itself and sets [SVGOptions.NoStyle].
var Stylesheet = stylesheet()

func stylesheet() string {
	var b strings.Builder
	set := func(dark bool) {
		b.WriteString(".ls-graph{")
		for _, c := range colours {
			value := c.light
			if dark {
				value = c.dark
			}
			fmt.Fprintf(&b, "--ls-%s:%s;", c.name, value)
		}
		b.WriteString("}")
	}
	set(false)
	b.WriteString("\n@media (prefers-color-scheme:dark){")
	set(true)
	b.WriteString("}\n")
	for _, rule := range [][3]string{
		{".ls-paper,.ls-pill", "fill", "paper"},
		{".ls-box,.ls-reference", "fill", "box"},
		{".ls-box,.ls-reference", "stroke", "frame"},
		{".ls-rule", "stroke", "frame"},
		{".ls-group", "fill", "inner"},
		{".ls-group", "stroke", "frame"},
		{".ls-group.ls-catch", "stroke", "error"},
		{".ls-on-box", "fill", "box"},
		{".ls-on-inner", "fill", "inner"},
		{".ls-heading,.ls-name,.ls-part,.ls-group-name", "fill", "text"},
		{".ls-type,.ls-note,.ls-label,.ls-subtitle", "fill", "muted"},
		{".ls-path", "stroke", "line"},
		{".ls-tip,.ls-dot", "fill", "line"},
		{".ls-ring", "stroke", "line"},
		{".ls-error .ls-path", "stroke", "error"},
		{".ls-error .ls-tip,.ls-error .ls-label", "fill", "error"},
		{".ls-compensate .ls-path", "stroke", "undo"},
		{".ls-compensate .ls-tip,.ls-compensate .ls-label", "fill", "undo"},
	} {
		fmt.Fprintf(&b, "%s{%s:var(--ls-%s)}\n", rule[0], rule[1], rule[2])
	}
	for _, name := range append([]string{"other"}, accents...) {
		fmt.Fprintf(&b, ".ls-%s .ls-bar{fill:var(--ls-%s)}.ls-%s .ls-icon{stroke:var(--ls-%s)}\n", name, name, name, name)
	}
	b.WriteString(".ls-raise .ls-bar{fill:var(--ls-error)}.ls-raise .ls-icon{stroke:var(--ls-error)}\n")
	b.WriteString(".ls-final{stroke:var(--ls-frame)}.ls-raise .ls-final{stroke:var(--ls-error)}\n")
	return b.String()
}

// icons are the signs of the types, strokes in a square of 14 pixels.
var icons = map[string]string{
	"operation": "M2 7h8M7 3.5 10.5 7 7 10.5M12.5 2.5v9",
	"switch":    "M7 1.5 12.5 7 7 12.5 1.5 7z",
	"parallel":  "M3 2v10M7 2v10M11 2v10",
	"foreach":   "M11.8 5.2A5.2 5.2 0 1 0 12.2 8M12.4 2v3.4H9",
	"event":     "M1.5 3h11v8h-11zM1.5 3.5 7 8l5.5-4.5",
	"callback":  "M12 11V7.500A2.5 2.5 0 0 0 9.5 5H2M5 2 2 5l3 3",
	"delay":     "M7 1.500a5.5 5.5 0 1 0 .01 0zM7 4v3.200l2.2 1.6",
	"subflow":   "M1.5 1.500h8v8h-8zM4.5 12.500h8v-8",
	"inject":    "M7 2v10M2 7h10",
	"do":        "M2 3h10M2 7h10M2 11h10",
	"emit":      "M2 12 12 2M6.500 2H12v5.500",
	"raise":     "M7 1.500 13 12H1zM7 5.500v3M7 10.300v.2",
	"try":       "M7 1.500 12 3.500v4c0 3-2.500 4.500-5 5.500c-2.500-1-5-2.500-5-5.500v-4z",
	"function":  "M9.500 2.500c-2-.5-2.500.5-2.800 2L5 11c-.3 1.500-1 2-2.500 1.500M4 6h5.500",
	"extension": "M7 2v10M2 7h10M3.500 3.500l7 7M10.500 3.500l-7 7",
	"other":     "M7 2.500a4.5 4.5 0 1 0 .01 0z",
}
