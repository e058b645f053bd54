package scenario

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/lockstep-workflows/lockstep/dialect"
)

// jobDialect is the dialect whose instances are moved by actors.
const jobDialect = "wfx"

// compile reads the definitions of a file. The report gets everything that is
// wrong in them, and in what the file asks of them.
func compile(ctx context.Context, f *File, o Options, report *Report) []Definition {
	r := dialect.Reporter{File: f.Path}
	var out []Definition
	ids := map[string]string{}
	for _, w := range f.Workflows {
		text, err := dialect.ReadFile(ctx, w.Path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				r.Errorf(w.At, codeDefinition, "there is no file %q", w.Path).WithHint("the path is relative to the scenario file")
			} else {
				r.Errorf(w.At, codeDefinition, "the definition cannot be read: %v", err)
			}
			continue
		}
		c, found := o.Registry.Compile(w.Path, text, o.bundle(w.Path), dialect.Options{Dialect: o.Dialect})
		report.Documents = append(report.Documents, c.Document)
		report.Diagnostics = append(report.Diagnostics, found...)
		if c.Program == nil {
			continue
		}
		if other, ok := ids[c.Program.ID]; ok {
			r.Errorf(w.At, codeDefinition, "the id %q is also that of %s", c.Program.ID, other)
			continue
		}
		ids[c.Program.ID] = w.Path
		out = append(out, Definition{w.Path, c.Program})
	}
	if len(out) > 0 && out[0].Program.Dialect != jobDialect {
		refuseJobKeys(&r, f, out[0].Program.Dialect)
	}
	report.Diagnostics = append(report.Diagnostics, r.Diagnostics()...)
	report.Diagnostics.Sort()
	return out
}

func (o Options) bundle(path string) dialect.Bundle {
	if o.Bundle != nil {
		return o.Bundle(path)
	}
	return dialect.DirBundle(filepath.Dir(path))
}

// refuseJobKeys reports what only makes sense for jobs.
func refuseJobKeys(r *dialect.Reporter, f *File, name string) {
	for _, s := range f.Scenarios {
		for _, t := range s.Takes {
			r.Errorf(t.At, codeDialect, "takes are for jobs; they are not supported for the dialect %s", name)
		}
		if s.Expect.State != "" {
			r.Errorf(s.Expect.At, codeDialect, "a state is expected of jobs; that is not supported for the dialect %s", name).
				WithHint("expect a path or a status")
		}
	}
}
