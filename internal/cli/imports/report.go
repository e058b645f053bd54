package imports

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// counts are how many there were of a kind.
type counts struct {
	Imported  int `json:"imported"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Kept      int `json:"kept"`
	LeftOut   int `json:"leftOut"`
}

func (c *counts) count(what engine.Imported) {
	switch what {
	case engine.ImportNew:
		c.Imported++
	case engine.ImportUpdated:
		c.Updated++
	case engine.ImportKept, engine.ImportDiverged:
		c.Kept++
	default:
		c.Unchanged++
	}
}

// report says what happened: what is left out or kept while it happens, the counts at the end.
type report struct {
	app       *cli.App
	json      bool
	Workflows counts `json:"workflows"`
	Jobs      counts `json:"jobs"`
	DryRun    bool   `json:"dryRun"`
	cut       bool
}

// omission is something that is not imported.
type omission struct {
	LeftOut string `json:"leftOut"` // workflow, job or history
	ID      string `json:"id"`
	Reason  string `json:"reason"`
}

// survivor is something that stays as it is here.
type survivor struct {
	Kept   string `json:"kept"` // job
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// leaveOut tells of something that is left out, and counts it.
func (r *report) leaveOut(of *counts, kind, id, reason string) error {
	r.cut = true
	if of != nil {
		of.LeftOut++
	}
	if r.json {
		return cli.WriteJSONLine(r.app.Out, omission{kind, id, reason})
	}
	_, err := fmt.Fprintf(r.app.Out, "left out: %s %s: %s\n", kind, cli.Plain(id), cli.Plain(reason))
	return err
}

// kept tells of a job that stays as it is here. A change in wfx that is lost by it counts as left out.
func (r *report) kept(id string, what engine.Imported) error {
	reason := "it changed here since it was imported"
	if what == engine.ImportDiverged {
		reason = "it changed here and in wfx since it was imported"
		r.cut = true
	}
	if r.json {
		return cli.WriteJSONLine(r.app.Out, survivor{"job", id, reason})
	}
	_, err := fmt.Fprintf(r.app.Out, "kept: job %s: %s\n", cli.Plain(id), reason)
	return err
}

// end tells the counts. It fails if something was left out.
func (r *report) end() error {
	if r.json {
		if err := cli.WriteJSONLine(r.app.Out, r); err != nil {
			return err
		}
	} else {
		would := ""
		if r.DryRun {
			would = " (dry run: nothing was stored)"
		}
		fmt.Fprintf(r.app.Err, "workflows: %d imported, %d unchanged, %d left out\njobs: %d imported, %d updated, %d unchanged, %d kept because they changed here, %d left out%s\n",
			r.Workflows.Imported, r.Workflows.Unchanged, r.Workflows.LeftOut,
			r.Jobs.Imported, r.Jobs.Updated, r.Jobs.Unchanged, r.Jobs.Kept, r.Jobs.LeftOut, would)
	}
	if r.cut {
		return cli.Shown(cli.ExitError)
	}
	return nil
}
