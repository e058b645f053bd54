package inst

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// treeView shows an instance as a tree of its states that is redrawn in place. Failed states stay visible; if
// there are more states than lines on the terminal, the oldest are folded.
type treeView struct {
	app      *cli.App
	instance api.Instance
	color    bool
	size     func() (rows, columns int)

	rows  []*treeRow
	open  map[string]*treeRow // by frame and node: states that were not left
	end   string
	drawn int // lines on the screen

	meters map[string]*cli.Meter // of foreach states
}

// treeRow is a state, or something that happened in it.
type treeRow struct {
	mark, code string // code is the colour's
	depth      int
	name, text string
	entered    time.Time
	failed     bool
	progress   string // of a foreach that runs
}

func (v *treeView) add(rec api.Record) error {
	if v.open == nil {
		v.open = map[string]*treeRow{}
	}
	key := fmt.Sprint(rec.Depth, "\x00", rec.Node)
	row := v.open[key]
	switch rec.Type {
	case api.RecordEntered:
		row = &treeRow{mark: "▸", code: "36", depth: rec.Depth, name: rec.Node, text: "running", entered: rec.Time}
		v.rows, v.open[key] = append(v.rows, row), row
	case api.RecordLeft:
		if row != nil {
			row.mark, row.code, row.text = "✓", "32", "done, "+cli.HumanDuration(rec.Time.Sub(row.entered))
			delete(v.open, key)
		}
	case api.RecordCalled, api.RecordWaiting, api.RecordRetrying, api.RecordSpawned, api.RecordCompensating:
		if row = v.near(rec); row != nil {
			row.text = strings.TrimSpace(rec.Type + " " + recordText(rec))
		}
	case api.RecordCallFailed, api.RecordItemFailed, api.RecordCaught, api.RecordTimedOut, api.RecordWarning:
		if row = v.near(rec); row != nil {
			row.text = strings.TrimSpace(rec.Type + " " + recordText(rec))
			row.failed = rec.Type != api.RecordWarning
		}
	case api.RecordFinished:
		v.finished(rec)
	case api.RecordControl:
		v.rows = append(v.rows, &treeRow{mark: "·", depth: rec.Depth, name: rec.Name, text: rec.Text})
	}
	return nil
}

// progress shows how far the foreach states of the instance are.
func (v *treeView) progress(in api.Instance, now time.Time) {
	v.instance = in
	if v.meters == nil {
		v.meters = map[string]*cli.Meter{}
	}
	for _, p := range in.Progress {
		if v.meters[p.State] == nil {
			v.meters[p.State] = &cli.Meter{}
		}
		m := v.meters[p.State]
		m.Read(now, p.Done, p.Total)
		for _, row := range v.rows {
			if row.mark == "▸" && row.name == p.State {
				row.progress = m.Text(now) + progressNote(p)
			}
		}
	}
}

// near is the state that a record belongs to.
func (v *treeView) near(rec api.Record) *treeRow {
	if row := v.open[fmt.Sprint(rec.Depth, "\x00", rec.Node)]; row != nil {
		return row
	}
	for i := len(v.rows) - 1; i >= 0; i-- {
		if v.rows[i].depth <= rec.Depth && v.rows[i].mark == "▸" {
			return v.rows[i]
		}
	}
	return nil
}

func (v *treeView) finished(rec api.Record) {
	v.end = string(rec.Status)
	if rec.Error == nil {
		return
	}
	for _, row := range v.rows {
		if row.mark == "▸" && (row.name == rec.Error.Node || rec.Error.Node == "") {
			row.mark, row.code, row.text, row.failed = "✗", "31", "failed: "+faultText(rec.Error), true
		}
	}
}

// lines are the lines on the terminal, bounded in number and width: a line that wraps would take two rows.
func (v *treeView) lines(most, wide int) []string {
	status := v.end
	if status == "" {
		status = string(v.instance.Status)
	}
	head := fmt.Sprintf("%s  %s  %s", v.instance.ID, cli.JoinVersion(v.instance.Definition.ID, v.instance.Definition.Version), status)
	shown := v.rows
	room := max(1, most-1)
	var pinned []*treeRow
	folded := 0
	if len(shown) > room {
		room-- // for the line about the folded rows
		cut := len(shown) - room
		for _, row := range shown[:cut] {
			if row.failed && len(pinned) < room/2 {
				pinned = append(pinned, row)
			}
		}
		cut += len(pinned)
		folded = cut - len(pinned)
		shown = append(pinned, shown[cut:]...)
	}
	out := []string{clip(head, wide)}
	if folded > 0 {
		out = append(out, fmt.Sprintf("  … %d earlier", folded))
	}
	for _, row := range shown {
		text := cli.FirstLine(row.text)
		if row.mark == "▸" && row.progress != "" {
			text = row.progress
		}
		line := clip(fmt.Sprintf("  %s%s %s   %s", strings.Repeat("  ", row.depth), row.mark, row.name, text), wide)
		if v.color && row.code != "" {
			line = strings.Replace(line, row.mark, "\x1b["+row.code+"m"+row.mark+"\x1b[0m", 1)
		}
		out = append(out, line)
	}
	return out
}

// clip cuts a line to the width of the terminal.
func clip(text string, wide int) string {
	r := []rune(cli.Plain(text))
	if len(r) >= wide {
		r = append(r[:max(0, wide-2)], '…')
	}
	return strings.TrimRight(string(r), " ")
}

// show draws the tree over the one before.
func (v *treeView) show() error {
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	rows, columns := v.size()
	lines := v.lines(rows-1, columns)
	for _, line := range lines {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	for range v.drawn - len(lines) {
		b.WriteString("\x1b[2K\n")
	}
	v.drawn = max(v.drawn, len(lines))
	_, err := fmt.Fprint(v.app.Out, b.String())
	return err
}
