package scenario

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// compile reads the definitions of a file. The report gets everything that is
// wrong in them, and in what the file asks of them.
func compile(ctx context.Context, f *File, o Options, report *Report) []Definition {
	r := dialect.Reporter{File: f.Path}
	var out []Definition
	ids := map[[2]string]string{} // by id and version
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
		c, found := o.Registry.Compile(w.Path, text, o.bundle(w.Path), dialect.Options{Dialect: o.Dialect, Functions: f.mocked()})
		report.Documents = append(report.Documents, c.Document)
		report.Diagnostics = append(report.Diagnostics, found...)
		if o.Check != nil {
			report.Diagnostics = append(report.Diagnostics, o.Check(w.Path, c)...)
		}
		if c.Program == nil {
			continue
		}
		id := [2]string{c.Program.ID, c.Program.Version}
		if other, ok := ids[id]; ok {
			r.Errorf(w.At, codeDefinition, "the id %q is also that of %s", c.Program.ID, other)
			continue
		}
		ids[id] = w.Path
		out = append(out, Definition{w.Path, c.Program})
	}
	if len(out) == len(f.Workflows) {
		checkMocks(&r, f, out)
	}
	switch {
	case len(out) == 0:
	case out[0].Program.Job:
		checkJobKeys(&r, f, out[0].Program)
	case slices.ContainsFunc(out, func(d Definition) bool { return d.Program.Job }):
		checkCampaignTakes(&r, f, out)
		refuseJobKeys(&r, f, out[0].Program.Dialect)
	default:
		refuseTakes(&r, f, out[0].Program.Dialect)
		refuseJobKeys(&r, f, out[0].Program.Dialect)
	}
	report.Diagnostics = append(report.Diagnostics, r.Diagnostics()...)
	report.Diagnostics.Sort()
	return out
}

// functionsOf are the names of the functions that programs call.
func functionsOf(programs []*ir.Program) map[string]bool {
	out := map[string]bool{}
	for _, p := range programs {
		for _, fn := range p.Functions {
			out[fn.Name] = true
		}
	}
	return out
}

// checkMocks reports mocks that answer no call.
func checkMocks(r *dialect.Reporter, f *File, all []Definition) {
	programs := make([]*ir.Program, len(all))
	for i, d := range all {
		programs[i] = d.Program
	}
	called := functionsOf(programs)
	names := slices.Sorted(maps.Keys(called))
	for _, s := range f.Scenarios {
		for _, name := range slices.Sorted(maps.Keys(s.Mocks)) {
			if !called[name] && name != mock.Any {
				r.Errorf(s.mockAt[name], codeNoFunction, "no workflow of this file calls a function %q", name).DidYouMean(name, names)
			}
		}
	}
}

// Check reports what is wrong with a file, given the definitions that it names. What is wrong with those is not in it.
func Check(ctx context.Context, f *File, o Options) dialect.Diagnostics {
	var report Report
	compile(ctx, f, o, &report)
	return slices.DeleteFunc(report.Diagnostics, func(d dialect.Diagnostic) bool { return d.File != f.Path })
}

// mocked lists the functions that scenarios of the file mock.
func (f *File) mocked() []string {
	names := map[string]bool{}
	for _, s := range f.Scenarios {
		for name := range s.Mocks {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (o Options) bundle(path string) dialect.Bundle {
	if o.Bundle != nil {
		return o.Bundle(path)
	}
	return dialect.DirBundle(filepath.Dir(path))
}

// refuseTakes reports takes where there are no jobs.
func refuseTakes(r *dialect.Reporter, f *File, name string) {
	for _, s := range f.Scenarios {
		for _, t := range s.Takes {
			r.Errorf(t.At, codeDialect, "takes are for jobs; they are not supported for the dialect %s", name)
		}
	}
}

// refuseJobKeys reports what only makes sense where a job is tested.
func refuseJobKeys(r *dialect.Reporter, f *File, name string) {
	for _, s := range f.Scenarios {
		if s.Client != "" {
			r.Errorf(s.At, codeDialect, "a client is for jobs; that is not supported for the dialect %s", name)
		}
		if s.Expect.State != "" {
			r.Errorf(s.Expect.At, codeDialect, "a state is expected of jobs; that is not supported for the dialect %s", name).
				WithHint("expect a path or a status")
		}
	}
}
