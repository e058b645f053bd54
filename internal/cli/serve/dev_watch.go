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
	broken   map[string]bool       // files that the last load could not deploy
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
	maps.DeleteFunc(w.broken, func(file string, _ bool) bool { _, there := now[file]; return !there })
	changed := fileSet{}
	for file, stamp := range now {
		if w.seen[file] != stamp {
			changed[filepath.Clean(file)] = true
		}
	}
	w.seen = now
	for _, name := range w.load(ctx) {
		fmt.Fprintf(w.host.app.Err, "loaded %s\n", cli.Plain(name))
	}
	w.test(ctx, changed)
}

// test runs the scenarios of what changed: of scenario files, of definitions, and of the files that these use. Where a
// definition has errors nothing is run: they are reported, and the last good version is not what the file says.
func (w *watcher) test(ctx context.Context, changed fileSet) {
	for file, users := range w.uses {
		if changed[filepath.Clean(file)] {
			for user := range users {
				changed[filepath.Clean(user)] = true
			}
		}
	}
	reader := load.Reader{App: w.host.app, Ctx: ctx, Client: w.host.client}
	err := local.RerunScenarios(reader, w.folder(), func(f *scenario.File) bool {
		affected := changed[filepath.Clean(f.Path)]
		for _, def := range f.Workflows {
			if w.broken[def.Path] {
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

// load deploys every definition without errors, as one bundle, and returns the names of those that are new, changed, or
// no longer broken. It reports the errors of the others, whose last good version stays deployed.
func (w *watcher) load(ctx context.Context) []string {
	a := w.host.app
	files, found, err := load.Find([]string{w.dir})
	if err != nil {
		fmt.Fprintf(a.Err, "%v\n", err)
		return nil
	}
	slices.Sort(files)
	var good []load.Definition
	owner := map[string]string{} // files by id
	for _, file := range files {
		d, err := load.Compile(a, ctx, file, "", w.host.client, w.host.invoker.Names()...)
		if err != nil {
			fmt.Fprintf(a.Err, "%v\n", err)
			w.broken[file] = true
			continue
		}
		if found[file] && !d.IsDefinition() {
			continue
		}
		if d, err = w.check(ctx, d, owner); err != nil {
			fmt.Fprintf(a.Err, "%s: %s\n", file, cli.Plain(err.Error()))
		}
		if err != nil || d.Diagnostics.HasErrors() {
			w.broken[file] = true
			w.keeps(file)
			continue
		}
		good = append(good, d)
	}
	loaded, err := w.deploy(ctx, good)
	if err != nil {
		fmt.Fprintf(a.Err, "%s; nothing was deployed\n", cli.Plain(err.Error()))
		for _, d := range good {
			w.broken[d.File] = true
		}
	}
	return loaded
}

// keeps reports that the last good version of a file stays deployed.
func (w *watcher) keeps(file string) {
	if was, ok := w.deployed[file]; ok {
		fmt.Fprintf(w.host.app.Err, "%s: the last good %s stays deployed\n", file, cli.Plain(was.name))
	}
}

// check finds what keeps a definition from being deployed, and reports its diagnostics if they include an error.
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
		w.report(d)
		return d, nil
	}
	if other, ok := owner[d.Program.ID]; ok {
		return d, fmt.Errorf("it defines %q, as %s does; it is skipped", d.Program.ID, other)
	}
	owner[d.Program.ID] = d.File
	return d, nil
}

// deploy deploys definitions as one bundle, and returns the names of those that changed or were broken.
func (w *watcher) deploy(ctx context.Context, ds []load.Definition) (loaded []string, err error) {
	if len(ds) == 0 {
		return nil, nil
	}
	dir := w.folder()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	b := lockstep.Bundle{Files: folder.FS(), AllowUnreachable: w.allowUnreachable}
	byPath := map[string]load.Definition{}
	for _, d := range ds {
		name, err := filepath.Rel(dir, d.File)
		if err != nil {
			return nil, err
		}
		name = filepath.ToSlash(name)
		b.Definitions, byPath[name] = append(b.Definitions, name), d
	}
	got, err := w.host.engine.DeployBundle(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, one := range got.Definitions {
		d := byPath[one.Definition.Path]
		name := cli.JoinVersion(one.Definition.ID, one.Definition.Version)
		before := w.deployed[d.File]
		w.deployed[d.File] = loadedFile{name, one.Definition.Digest}
		if before.digest != one.Definition.Digest || w.broken[d.File] {
			w.report(d)
			loaded = append(loaded, name)
		}
		delete(w.broken, d.File)
	}
	return loaded, nil
}

// report shows the diagnostics of a definition.
func (w *watcher) report(d load.Definition) {
	documents := local.NewValidation(w.host.app)
	documents.Documents[d.File] = d.Document
	for _, one := range d.Diagnostics {
		// If stderr cannot be written there is no way to report it.
		_ = cli.Render(w.host.app.Err, documents.Document(one.File), one)
	}
	if d.Diagnostics.HasErrors() {
		fmt.Fprintf(w.host.app.Err, "%s: %s\n", filepath.ToSlash(d.File), cli.Tally(d.Diagnostics.Counts()))
	}
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
