package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
)

// pollEvery is how often files are checked. Notifications would need a library for each operating system.
const pollEvery = 300 * time.Millisecond

// stamp identifies the content of a file, as far as its metadata can.
type stamp struct {
	modified time.Time
	size     int64
}

// loadedFile is the definition that a file holds.
type loadedFile struct{ name, digest string }

// watcher deploys the definitions of a folder, again whenever files change.
type watcher struct {
	host     *host
	dir      string
	seen     map[string]stamp      // of the loaded files
	changing map[string]stamp      // of changed files at the last check
	deployed map[string]loadedFile // by file
}

// look records the stamps of all files.
func (w *watcher) look() error {
	seen, err := w.stamps()
	w.seen = seen
	return err
}

// stamps returns the stamps of all documents of the folder and of the catalogue: a definition may refer to
// any of them.
func (w *watcher) stamps() (map[string]stamp, error) {
	out := map[string]stamp{}
	add := func(file string) {
		if info, err := os.Stat(file); err == nil {
			out[file] = stamp{info.ModTime(), info.Size()}
		}
	}
	info, err := os.Stat(w.dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		add(w.dir)
	default:
		files, err := dialect.FindFiles(w.dir, func(entry fs.DirEntry) bool { return cli.IsDocument(entry.Name()) })
		if err != nil {
			return nil, fmt.Errorf("look for definitions: %w", err)
		}
		for _, file := range files {
			add(file)
		}
	}
	if file := w.host.flags.functions.File; file != "" {
		add(file)
	}
	return out, nil
}

// watch loads what changes, until ctx ends.
func (w *watcher) watch(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
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
			fmt.Fprintf(w.host.app.Err, "%s was removed; %s stays deployed\n", file, cli.Plain(was.name))
			delete(w.deployed, file)
		}
	}
	w.seen = now
	for _, name := range w.load(ctx) {
		fmt.Fprintf(w.host.app.Err, "loaded %s\n", cli.Plain(name))
	}
}

func (w *watcher) reloadFunctions(ctx context.Context) {
	known, err := w.host.flags.functions.Use(ctx, w.host.app, w.host.client, w.host.secrets)
	if err != nil {
		fmt.Fprintf(w.host.app.Err, "%v; the last good one stays in use\n", err)
		return
	}
	w.host.invoker.use(known)
}

// load deploys every new or changed definition without errors, and returns their names. It reports the
// errors of the others, whose last good version stays deployed.
func (w *watcher) load(ctx context.Context) []string {
	a := w.host.app
	files, found, err := load.Find([]string{w.dir})
	if err != nil {
		fmt.Fprintf(a.Err, "%v\n", err)
		return nil
	}
	slices.Sort(files)
	var loaded []string
	owner := map[string]string{} // files by id
	for _, file := range files {
		d, err := load.Compile(a, ctx, file, "", w.host.client, w.host.invoker.Names()...)
		if err != nil {
			fmt.Fprintf(a.Err, "%v\n", err)
			continue
		}
		if found[file] && !load.IsDefinition(d) {
			continue
		}
		name, err := w.deploy(ctx, d, owner)
		if err != nil {
			fmt.Fprintf(a.Err, "%s: %s\n", file, cli.Plain(err.Error()))
			w.keeps(file)
			continue
		}
		if name != "" {
			loaded = append(loaded, name)
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

// deploy deploys one definition. The name is empty if nothing changed.
func (w *watcher) deploy(ctx context.Context, d load.Definition, owner map[string]string) (string, error) {
	if d.Program != nil {
		if !w.host.flags.functions.AllowExec && builtin.CheckExec(d.File, d.Program).HasErrors() {
			return "", errors.New("it runs programs on this machine, and is skipped; --allow-exec allows that")
		}
		d.Diagnostics = append(d.Diagnostics, d.Pin(ctx, w.host.client, true)...)
		d.Diagnostics.Sort()
	}
	if d.Program == nil || d.Diagnostics.HasErrors() {
		w.report(d)
		w.keeps(d.File)
		return "", nil
	}
	p := d.Program
	if other, ok := owner[p.ID]; ok {
		return "", fmt.Errorf("it defines %q, as %s does; it is skipped", p.ID, other)
	}
	owner[p.ID] = d.File
	folder, err := os.OpenRoot(filepath.Dir(d.File))
	if err != nil {
		return "", err
	}
	defer folder.Close()
	row, err := w.host.engine.Deploy(ctx, lockstep.Document{
		Text: d.Document.Source, Name: filepath.Base(d.File), Files: folder.FS(),
	})
	if err != nil {
		return "", err
	}
	name := cli.JoinVersion(row.ID, row.Version)
	before := w.deployed[d.File]
	w.deployed[d.File] = loadedFile{name, row.Digest}
	if before.digest == row.Digest {
		return "", nil
	}
	w.report(d)
	return name, nil
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
