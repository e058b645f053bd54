package dialect

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// JobCheck checks functions that create jobs: job:WORKFLOW, with a client, tags and a
// definition. Front-ends differ in where these stand, and in what is an expression.
type JobCheck struct {
	Report *Reporter
	Hints  *Hinter
	// The front-end's codes: for a name that no workflow can have, for arguments with
	// which no job is created, and for one that is not known.
	BadName, BadArguments, Unknown string
	Expression                     func(text string) bool
}

// jobName is what names of job workflows look like.
var jobName = regexp.MustCompile(`^[a-zA-Z0-9.-]{1,64}$`)

// Operation checks the name of the workflow. It reports false where the operation is not
// one that creates jobs.
func (c JobCheck) Operation(n *Node) bool {
	name, ok := ir.JobWorkflow(n.Text)
	switch {
	case !ok:
		return false
	case name == "":
		c.Report.Errorf(n, c.BadName, "%s names no workflow", n.Text).WithHint("write %sNAME", ir.JobScheme)
	case !jobName.MatchString(name):
		c.Report.Errorf(n.SpanIn(len(ir.JobScheme), len(n.Text)), c.BadName, "%q is not a valid name of a job workflow", name).
			WithHint("names are letters from a to z, digits, dots and hyphens, at most 64")
	}
	return true
}

// Arguments checks what is given to a function that creates jobs, as far as it is
// written down. at is the call.
func (c JobCheck) Arguments(at Place, function string, parameters *Node) {
	if parameters.Get(ir.JobArgClient) == nil {
		c.Report.Errorf(at, c.BadArguments, "function %q creates a job and needs %q, the client of the job", function, ir.JobArgClient).
			WithHint("add it to the parameters")
	}
	if parameters == nil {
		return
	}
	for _, m := range parameters.Members {
		switch m.Name() {
		case ir.JobArgClient:
			c.text(m, "the client of a job")
		case ir.JobArgTags:
			c.tags(m)
		case ir.JobArgDefinition:
		default:
			d := c.Report.Warnf(m.KeySpan(), c.Unknown, "function %q creates a job, which has no argument %q", function, m.Name())
			if c.Hints.DidYouMean(d, m.Name(), ir.JobArguments) == "" {
				d.WithHint("a job has %s; put what the device needs to know into the %s", strings.Join(ir.JobArguments, ", "), ir.JobArgDefinition)
			}
		}
	}
}

func (c JobCheck) text(n *Node, what string) {
	switch {
	case !n.Is(expr.KindString):
		c.Report.Errorf(n, c.BadArguments, "%s must be a string, not %s", what, n.Kind.WithArticle())
	case strings.TrimSpace(n.Text) == "":
		c.Report.Errorf(n, c.BadArguments, "%s must not be empty", what)
	}
}

func (c JobCheck) tags(n *Node) {
	switch {
	case n.Is(expr.KindArray):
		for _, item := range n.Items {
			c.text(item, "a tag")
		}
	case n.IsNull(), n.Is(expr.KindString) && c.Expression(n.Text):
	case n.Is(expr.KindString):
		c.Report.Errorf(n, c.BadArguments, "the tags of a job must be an array, not a string").WithHint("write [%s]", n.Text)
	default:
		c.Report.Errorf(n, c.BadArguments, "the tags of a job must be an array of strings, not %s", n.Kind.WithArticle())
	}
}

// CodeNoJobs is the code of CheckJobs.
const CodeNoJobs = "JOB001" // warning

// CheckJobs warns of functions of the definitions that create jobs of none of them. Where
// no job workflow is among them, they are not all there is.
func CheckJobs(all []Compiled) Diagnostics {
	known := map[string]*ir.Program{}
	var jobs []string
	for _, c := range all {
		if c.Program != nil {
			known[c.Program.ID] = c.Program
			if c.Program.Job {
				jobs = append(jobs, c.Program.ID)
			}
		}
	}
	var hints Hinter
	var out Diagnostics
	for _, c := range all {
		if c.Program == nil {
			continue
		}
		report := Reporter{File: c.Document.File}
		for _, f := range c.Program.Functions {
			name, ok := ir.JobWorkflow(f.Operation)
			if !ok {
				continue
			}
			var at Place = Pos{c.Document.File, f.Pos.Line, f.Pos.Column}
			if n := c.Operations[f.Name]; n != nil {
				at = n
			}
			switch p := known[name]; {
			case p == nil && len(jobs) > 0:
				d := report.Warnf(at, CodeNoJobs, "function %q creates jobs of %q, which is not among the files", f.Name, name)
				hints.DidYouMean(d, name, jobs)
			case p != nil && !p.Job:
				report.Warnf(at, CodeNoJobs, "function %q creates jobs of %q, which is not a job workflow", f.Name, name)
			}
		}
		out = append(out, report.Diagnostics()...)
	}
	return out
}
