package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// pollEvery is how often files are looked at. Asking the system to tell would need a
// library for each kind of it.
const pollEvery = 300 * time.Millisecond

// stamp tells one content of a file from another, as far as a look at the folder can.
type stamp struct {
	modified time.Time
	size     int64
}

// loadedFile is the definition that a file holds.
type loadedFile struct{ id, name string }

// watcher deploys the definitions of a folder, again whenever files change.
type watcher struct {
	host     *host
	dir      string
	seen     map[string]stamp      // of what is loaded
	changing map[string]stamp      // of what differs from it, as it was at the last look
	deployed map[string]loadedFile // by file
}

// look notes the state of all files.
func (w *watcher) look() error {
	seen, err := w.stamps()
	w.seen = seen
	return err
}

// stamps looks at every document of the folder and at the catalogue: a definition may
// refer to any of them.
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
		files, err := dialect.FindFiles(w.dir, func(entry fs.DirEntry) bool { return isDocument(entry.Name()) })
		if err != nil {
			return nil, fmt.Errorf("look for definitions: %w", err)
		}
		for _, file := range files {
			add(file)
		}
	}
	if file := w.host.flags.functions.file; file != "" {
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

// again loads everything if a file changed, and is not being written any more.
func (w *watcher) again(ctx context.Context) {
	now, err := w.stamps()
	if err != nil || maps.Equal(now, w.seen) {
		return // a folder that is gone for a moment comes back
	}
	if !maps.Equal(now, w.changing) {
		w.changing = now
		return
	}
	functions := w.host.flags.functions.file
	if functions != "" && now[functions] != w.seen[functions] {
		w.reloadFunctions(ctx)
	}
	for file, was := range w.deployed {
		if _, there := now[file]; !there {
			fmt.Fprintf(w.host.app.err, "%s is gone; %s stays deployed\n", file, plain(was.name))
			delete(w.deployed, file)
		}
	}
	w.seen = now
	for _, name := range w.load(ctx) {
		fmt.Fprintf(w.host.app.err, "loaded %s\n", plain(name))
	}
}

func (w *watcher) reloadFunctions(ctx context.Context) {
	known, err := w.host.flags.functions.use(ctx, w.host.app, w.host.client)
	if err != nil {
		fmt.Fprintf(w.host.app.err, "%v; the last good one is used on\n", err)
		return
	}
	w.host.invoker.use(known)
}

// load deploys every definition that is sound and new, and names those. What is wrong with
// the others is told; what they held before serves on.
func (w *watcher) load(ctx context.Context) []string {
	a := w.host.app
	files, found, err := findDefinitions([]string{w.dir})
	if err != nil {
		fmt.Fprintf(a.err, "%v\n", err)
		return nil
	}
	slices.Sort(files)
	var loaded []string
	owner := map[string]string{} // of ids, among files
	for _, file := range files {
		d, err := a.compile(ctx, file, "", w.host.client, w.host.invoker.names()...)
		if err != nil {
			fmt.Fprintf(a.err, "%v\n", err)
			continue
		}
		if found[file] && !looksLikeDefinition(d) {
			continue
		}
		name, err := w.deploy(ctx, d, owner)
		if err != nil {
			fmt.Fprintf(a.err, "%s: %s\n", file, plain(err.Error()))
			w.keeps(file)
			continue
		}
		if name != "" {
			loaded = append(loaded, name)
		}
	}
	return loaded
}

// keeps tells that an earlier content of a file serves on.
func (w *watcher) keeps(file string) {
	if was, ok := w.deployed[file]; ok {
		fmt.Fprintf(w.host.app.err, "%s: the last good %s serves on\n", file, plain(was.name))
	}
}

// deploy deploys one definition. The name is empty where nothing is new.
func (w *watcher) deploy(ctx context.Context, d definition, owner map[string]string) (string, error) {
	if d.Program != nil {
		d.diagnostics = append(d.diagnostics, openapi.Pin(ctx, d.Program, bundleFor(ctx, d.file, w.host.client), d.functions())...)
		d.diagnostics.Sort()
	}
	if d.Program == nil || d.diagnostics.HasErrors() {
		w.tell(d)
		w.keeps(d.file)
		return "", nil
	}
	p := d.Program
	if other, ok := owner[p.ID]; ok {
		return "", fmt.Errorf("it defines %q, as %s does; it is passed over", p.ID, other)
	}
	owner[p.ID] = d.file
	document := engine.Document{Program: p, Source: d.Document.Source}
	if len(d.diagnostics) > 0 {
		var err error
		if document.Diagnostics, err = json.Marshal(d.diagnostics); err != nil {
			return "", err
		}
	}
	row, created, err := w.host.engine.DeployDocument(ctx, document)
	if err != nil {
		return "", err
	}
	name := joinVersion(row.ID, row.Version)
	_, before := w.deployed[d.file]
	w.deployed[d.file] = loadedFile{row.ID, name}
	if !created && before {
		return "", nil
	}
	w.tell(d)
	return name, nil
}

// tell shows the diagnostics of a definition.
func (w *watcher) tell(d definition) {
	documents := newValidation(w.host.app)
	documents.documents[d.file] = d.Document
	for _, one := range d.diagnostics {
		// There is nobody left to tell that stderr cannot be written.
		_ = render(w.host.app.err, documents.document(one.File), one)
	}
	if d.diagnostics.HasErrors() {
		fmt.Fprintf(w.host.app.err, "%s: %s\n", filepath.ToSlash(d.file), tally(d.diagnostics.Counts()))
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
