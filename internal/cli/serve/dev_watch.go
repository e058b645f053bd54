package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/local"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// loadedFile is the definition that a file holds.
type loadedFile struct{ name, digest string }

// fileSet is a set of files.
type fileSet map[string]bool

// watcher deploys the definitions of a folder, again whenever files change.
type watcher struct {
	host     *host
	dir      string
	seen     cli.Stamps            // of the loaded files
	changing cli.Stamps            // of changed files at the last check
	deployed map[string]loadedFile // by file
	broken   map[string]string     // files that the last load could not deploy, and what was printed of them
	uses     map[string]fileSet    // files that definitions refer to, and which definitions do

	allowUnreachable bool // documents on the network that cannot be fetched are warnings
}

// look records the stamps of all files.
func (w *watcher) look() error {
	seen, err := w.stamps()
	w.seen = seen
	return err
}

// stamps returns the stamps of all documents of the folder, of other files that definitions refer to, and of the
// catalogue.
func (w *watcher) stamps() (cli.Stamps, error) {
	out := cli.Stamps{}
	if err := out.AddBelow(w.dir); err != nil {
		return nil, fmt.Errorf("look for definitions: %w", err)
	}
	for file := range w.uses {
		out.Add(file)
	}
	if file := w.host.flags.functions.File; file != "" {
		out.Add(file)
	}
	return out, nil
}

// watch loads what changes, until ctx ends.
func (w *watcher) watch(ctx context.Context) {
	ticker := time.NewTicker(cli.PollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.again(ctx)
	}
}

// again reloads everything if a file changed and is no longer being written.
func (w *watcher) again(ctx context.Context) {
	now, err := w.stamps()
	if err != nil || maps.Equal(now, w.seen) {
		return // a folder may be missing for a moment
	}
	if !maps.Equal(now, w.changing) {
		w.changing = now
		return
	}
	functions := w.host.flags.functions.File
	if functions != "" && now[functions] != w.seen[functions] {
		w.reloadFunctions(ctx)
	}
	for file, was := range w.deployed {
		if _, there := now[file]; !there {
			fmt.Fprintf(w.host.app.Err, "%s was removed; %s stays deployed, \"lockstep def rm %[2]s\" deletes it\n", file, cli.Plain(was.name))
			delete(w.deployed, file)
		}
	}
	maps.DeleteFunc(w.broken, func(file, _ string) bool { _, there := now[file]; return !there })
	changed := fileSet{}
	for file, stamp := range now {
		if w.seen[file] != stamp {
			changed[filepath.Clean(file)] = true
		}
	}
	w.seen = now
	w.spread(changed)
	for file := range w.broken {
		if changed[filepath.Clean(file)] {
			w.broken[file] = "" // print it again, also if nothing is better
		}
	}
	loaded, fixed := w.load(ctx)
	for _, name := range fixed {
		fmt.Fprintf(w.host.app.Err, "fixed %s\n", cli.Plain(name))
	}
	for _, name := range loaded {
		fmt.Fprintf(w.host.app.Err, "loaded %s\n", cli.Plain(name))
	}
	w.spread(changed) // a definition may use other files now
	w.test(ctx, changed)
}

// spread adds the definitions that use a changed file.
func (w *watcher) spread(changed fileSet) {
	for file, users := range w.uses {
		if changed[filepath.Clean(file)] {
			for user := range users {
				changed[filepath.Clean(user)] = true
			}
		}
	}
}

// test runs the scenarios of what changed: of scenario files, of definitions, and of the files that these use. Where a
// definition has errors nothing is run: they are reported, and the last good version is not what the file says.
func (w *watcher) test(ctx context.Context, changed fileSet) {
	reader := load.Reader{App: w.host.app, Ctx: ctx, Client: w.host.client}
	err := local.RerunScenarios(reader, w.folder(), func(f *scenario.File) bool {
		affected := changed[filepath.Clean(f.Path)]
		for _, def := range f.Workflows {
			if _, broken := w.broken[def.Path]; broken {
				return false
			}
			affected = affected || changed[filepath.Clean(def.Path)]
		}
		return affected
	})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(w.host.app.Err, "%s\n", cli.Plain(err.Error()))
	}
}

// folder is the folder of the definitions.
func (w *watcher) folder() string {
	if info, err := os.Stat(w.dir); err == nil && !info.IsDir() {
		return filepath.Dir(w.dir)
	}
	return w.dir
}

func (w *watcher) reloadFunctions(ctx context.Context) {
	known, err := w.host.flags.functions.Use(ctx, w.host.app, w.host.client, w.host.secrets)
	if err != nil {
		fmt.Fprintf(w.host.app.Err, "%v; the last good one stays in use\n", err)
		return
	}
	w.host.invoker.use(known)
}

// load deploys every definition without errors, as one bundle, and returns the names of those that are new or changed,
// and of those that are no longer broken. It reports the errors of the others, whose last good version stays deployed.
func (w *watcher) load(ctx context.Context) (loaded, fixed []string) {
	a := w.host.app
	files, found, err := load.Find([]string{w.dir})
	if err != nil {
		fmt.Fprintf(a.Err, "%v\n", err)
		return nil, nil
	}
	slices.Sort(files)
	var good []load.Definition
	owner := map[string]string{} // files by id
	for _, file := range files {
		d, err := load.Compile(a, ctx, file, "", w.host.client, w.host.invoker.Names()...)
		if err != nil {
			w.breaks(file, err.Error()+"\n")
			continue
		}
		if found[file] && !d.IsDefinition() {
			continue
		}
		switch d, err = w.check(ctx, d, owner); {
		case err != nil:
			w.breaks(file, fmt.Sprintf("%s: %s\n", file, cli.Plain(err.Error())))
		case d.Diagnostics.HasErrors():
			w.breaks(file, w.report(d))
		default:
			good = append(good, d)
		}
	}
	loaded, fixed, err = w.deploy(ctx, good)
	if err != nil {
		report, again := cli.Plain(err.Error())+"; nothing was deployed\n", true
		for _, d := range good {
			again = again && w.broken[d.File] == report
			w.broken[d.File] = report
		}
		if !again {
			fmt.Fprint(a.Err, report)
		}
	}
	return loaded, fixed
}

// breaks reports why a file cannot be deployed, unless that is what it said last.
func (w *watcher) breaks(file, report string) {
	if was, ok := w.deployed[file]; ok {
		report += fmt.Sprintf("%s: the last good %s stays deployed\n", file, cli.Plain(was.name))
	}
	if w.broken[file] != report {
		fmt.Fprint(w.host.app.Err, report)
	}
	w.broken[file] = report
}

// check finds what keeps a definition from being deployed: an error, or one among its diagnostics.
func (w *watcher) check(ctx context.Context, d load.Definition, owner map[string]string) (load.Definition, error) {
	if d.Program != nil {
		if !w.host.flags.functions.AllowExec && builtin.CheckExec(d.File, d.Program).HasErrors() {
			return d, errors.New("it runs programs on this machine, and is skipped; --allow-exec allows that")
		}
		d.Diagnostics = append(d.Diagnostics, d.Pin(ctx, w.host.client, load.Allowed{Exec: true, Unreachable: w.allowUnreachable})...)
		d.Diagnostics = append(d.Diagnostics, w.host.invoker.CheckCalls(ctx, d.Calls(w.host.client))...)
		d.Diagnostics.Sort()
		for _, file := range d.Uses() {
			if w.uses[file] == nil {
				w.uses[file] = fileSet{}
			}
			w.uses[file][d.File] = true
		}
	}
	if d.Diagnostics.HasErrors() {
		return d, nil
	}
	if other, ok := owner[d.Program.ID]; ok {
		return d, fmt.Errorf("it defines %q, as %s does; it is skipped", d.Program.ID, other)
	}
	owner[d.Program.ID] = d.File
	return d, nil
}

// deploy deploys definitions as one bundle, and returns the names of those that changed, and of those that were broken.
func (w *watcher) deploy(ctx context.Context, ds []load.Definition) (loaded, fixed []string, err error) {
	if len(ds) == 0 {
		return nil, nil, nil
	}
	dir := w.folder()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	b := lockstep.Bundle{Files: folder.FS(), AllowUnreachable: w.allowUnreachable}
	byPath := map[string]load.Definition{}
	for _, d := range ds {
		name, err := filepath.Rel(dir, d.File)
		if err != nil {
			return nil, nil, err
		}
		name = filepath.ToSlash(name)
		b.Definitions, byPath[name] = append(b.Definitions, name), d
	}
	got, err := w.host.engine.DeployBundle(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range got.Definitions {
		d := byPath[one.Definition.Path]
		name := cli.JoinVersion(one.Definition.ID, one.Definition.Version)
		before := w.deployed[d.File]
		w.deployed[d.File] = loadedFile{name, one.Definition.Digest}
		_, broken := w.broken[d.File]
		switch {
		case broken:
			fixed = append(fixed, name)
		case before.digest != one.Definition.Digest:
			loaded = append(loaded, name)
		default:
			continue
		}
		fmt.Fprint(w.host.app.Err, w.report(d))
		delete(w.broken, d.File)
	}
	return loaded, fixed, nil
}

// report is the text of the diagnostics of a definition.
func (w *watcher) report(d load.Definition) string {
	var out strings.Builder
	documents := local.NewValidation(w.host.app)
	documents.Documents[d.File] = d.Document
	for _, one := range d.Diagnostics {
		_ = cli.Render(&out, documents.Document(one.File), one) // a builder never fails
	}
	if d.Diagnostics.HasErrors() {
		fmt.Fprintf(&out, "%s: %s\n", filepath.ToSlash(d.File), cli.Tally(d.Diagnostics.Counts()))
	}
	return out.String()
}

// lockedWriter lets several goroutines write, one at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(text)
}
