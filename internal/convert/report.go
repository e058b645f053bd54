package convert

import (
	_ "embed" // of report.html
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Report is what a team reviews of a conversion: one page that needs nothing else.
type Report struct {
	File       string
	Title      string // of the version of the source
	Source     Source
	Lines      func(n int) (text string, ok bool) // of the source, from 1
	Result     Result
	Comparison *Comparison // nil: nothing was compared
	Seed       uint64
}

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"place": placeText}).Parse(reportPage))

// placeText is a position for people; the zero one is the whole definition.
func placeText(p dialect.Pos) string {
	if p.Line == 0 {
		return "everywhere"
	}
	return fmt.Sprintf("line %d", p.Line)
}

// pair is a state beside what it became.
type pair struct {
	Name, Source, Target string
	Losses               []Loss
}

// Write writes the page.
func (r Report) Write(w io.Writer) error {
	texts, err := r.Result.parts()
	if err != nil {
		return err
	}
	page := struct {
		Report
		Verdict string
		Good    bool
		Around  string
		Pairs   []pair
		First   string
		Breaks  string
	}{Report: r, Around: texts[""], Pairs: r.pairs(texts)}
	page.Verdict, page.Good = r.verdict()
	if k := r.Comparison; k != nil {
		if k.First != nil {
			page.First = k.First.String()
		}
		if k.Breaks != nil {
			page.Breaks = k.Breaks.String()
		}
	}
	return reportTemplate.Execute(w, page)
}

// verdict is the page in a sentence.
func (r Report) verdict() (text string, good bool) {
	k := r.Comparison
	switch {
	case k != nil && k.First != nil && len(r.Result.Lost) == 0:
		return fmt.Sprintf("%d of %d cases differ, and nothing is known that would explain it.", k.Cases-k.Agreed-k.Broke, k.Cases), false
	case k != nil && k.First != nil:
		return fmt.Sprintf("%d of %d cases differ; what is not kept may be why.", k.Cases-k.Agreed-k.Broke, k.Cases), false
	case len(r.Result.Lost) > 0:
		return "Something is not kept. Decide about each point below.", false
	case k == nil:
		return "Everything is kept. Nothing was compared.", true
	case k.Broke > 0:
		return fmt.Sprintf("Everything is kept where the assumptions below are true. All %d cases in which they are agree.", k.Agreed), true
	}
	return fmt.Sprintf("Everything is kept, and all %d cases agree.", k.Agreed), true
}

// parts is the text of each state or task of the first document by its name, and under "" what stands around them. Each
// further document is one part.
func (r Result) parts() (map[string]string, error) {
	out := map[string]string{}
	for n, d := range r.Definitions {
		text, err := r.Text(d, dialect.YAML)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			out[d.ID] = string(text)
			continue
		}
		head, body, _ := strings.Cut("\n"+string(text), "\n"+d.list+":\n")
		out[""] = strings.TrimPrefix(head, "\n")
		i := -1
		var comments string
		for line := range strings.Lines(body) {
			switch {
			case strings.HasPrefix(line, "#"):
				comments += line
				continue
			case strings.HasPrefix(line, "- ") && i+1 < len(d.items):
				i++
			}
			if i >= 0 {
				out[d.items[i].Name] += comments + line
				comments = ""
			}
		}
	}
	return out, nil
}

// pairs puts each state of the source beside the tasks whose names begin with its name.
func (r Report) pairs(texts map[string]string) []pair {
	type place struct {
		name string
		line int
	}
	var places []place
	for _, s := range r.Source.program.States {
		if s.In == "" && s.Pos.Line > 0 {
			places = append(places, place{s.Name, s.Pos.Line})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.line - b.line })
	var out []pair
	for i, p := range places {
		end := 0
		if i+1 < len(places) {
			end = places[i+1].line
		}
		out = append(out, pair{Name: p.name, Source: r.lines(p.line, end)})
	}
	owner := func(name string) *pair {
		var best *pair
		for i := range out {
			p := &out[i]
			if (name == p.Name || strings.HasPrefix(name, p.Name+" ")) && (best == nil || len(p.Name) > len(best.Name)) {
				best = p
			}
		}
		return best
	}
	for n, d := range r.Result.Definitions {
		if n > 0 {
			out = append(out, pair{Name: d.ID, Target: texts[d.ID]})
			continue
		}
		for _, it := range d.items {
			p := owner(it.Name)
			if p == nil {
				out = append(out, pair{Name: it.Name})
				p = &out[len(out)-1]
			}
			p.Target += texts[it.Name]
		}
	}
	for i := range out {
		for _, l := range r.Result.Lost {
			if l.State == out[i].Name {
				out[i].Losses = append(out[i].Losses, l)
			}
		}
	}
	return out
}

// lines is the source from a line up to another, 0 for the end of the state that stands last.
func (r Report) lines(from, to int) string {
	var out []string
	for n := from; to == 0 || n < to; n++ {
		text, ok := r.Lines(n)
		if !ok || to == 0 && n > from && text != "" && indent(text) < indent(first(out[0], text)) {
			break
		}
		out = append(out, text)
	}
	for len(out) > 0 { // comments above the next state are its own
		last := strings.TrimSpace(out[len(out)-1])
		if last != "" && !strings.HasPrefix(last, "#") && last != "{" {
			break
		}
		out = out[:len(out)-1]
	}
	return strings.Join(out, "\n")
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
