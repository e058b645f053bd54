package def

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// file is a file of a bundle.
type file struct {
	path       string // in the bundle
	local      string // on this machine, as the user would name it
	text       []byte
	definition bool
}

// bundle is definitions and what they refer to, as far as it is on this machine.
type bundle struct {
	root string // the folder, absolute
	all  []file
	uses map[string]bool // local files that definitions refer to, absolute
}

// files are the files to be sent.
func (b *bundle) files() []client.BundleFile {
	var out []client.BundleFile
	for _, f := range b.all {
		out = append(out, client.BundleFile{Path: f.path, Text: f.text, Definition: f.definition})
	}
	return out
}

// local is the file on this machine for a path in the bundle.
func (b *bundle) local(name string) string {
	if i := slices.IndexFunc(b.all, func(f file) bool { return f.path == name }); i >= 0 {
		return b.all[i].local
	}
	return name
}

// gather reads the definitions among paths, and what they refer to. Nothing else is sent to the server.
func gather(r remote.Server, paths []string, dialectName string) (*bundle, error) {
	if err := cli.StdinOnce(paths); err != nil {
		return nil, err
	}
	files, found, err := load.Find(paths)
	if err != nil {
		return nil, err
	}
	b := &bundle{uses: map[string]bool{}}
	if b.root, err = rootOf(paths); err != nil {
		return nil, err
	}
	g := &gatherer{bundle: b, server: r, dialect: dialectName, ids: map[string]bool{}}
	var others []string
	for _, name := range files {
		is, err := g.add(name, found[name])
		if err != nil {
			return nil, err
		}
		if !is {
			others = append(others, name)
		}
	}
	if err := g.addBeside(); err != nil {
		return nil, err
	}
	for _, name := range others {
		if at, err := filepath.Abs(name); err == nil && !b.uses[at] {
			fmt.Fprintf(r.Err, "%s: skipped, not a definition\n", name)
		}
	}
	if !slices.ContainsFunc(b.all, func(f file) bool { return f.definition }) {
		return nil, cli.NotFoundf("there is no definition in %s", strings.Join(paths, ", ")).
			WithHint("definitions are *.yaml, *.yml and *.json files with tasks or states")
	}
	return b, nil
}

// rootOf is the folder of a bundle: the nearest one that has all paths.
func rootOf(paths []string) (string, error) {
	root := ""
	for _, name := range paths {
		dir := name
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			dir = filepath.Dir(name) // of -, which is stdin: the current one
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		for root = cmp.Or(root, dir); !within(root, dir); root = filepath.Dir(root) {
			if root == filepath.Dir(root) {
				return "", cli.Usagef("%s have no folder in common", strings.Join(paths, ", "))
			}
		}
	}
	return root, nil
}

// within reports whether a folder is another one, or below it.
func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// gatherer makes a bundle.
type gatherer struct {
	*bundle
	server  remote.Server
	dialect string
	ids     map[string]bool // of the definitions
	named   []load.Needs    // of files that the user named: their sub-workflows may be beside them
}

// add adds a definition and the files that it refers to. A document of a folder may be something else: then it is not
// added.
func (g *gatherer) add(name string, found bool) (bool, error) {
	text, local, err := g.server.ReadText(g.server.Ctx, name)
	if err != nil {
		return false, err
	}
	at := local
	if local == cli.StdinName { // it has no name of its own
		at = "definition.yaml"
		if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
			at = "definition.json"
		}
	}
	needs := load.NeedsOf(g.server.Ctx, at, text, g.dialect)
	if found && !needs.IsDefinition {
		return false, nil
	}
	if needs.Refused != nil {
		return false, cli.Invalidf("%s refers to %v", local, needs.Refused)
	}
	if err := g.put(at, local, text, true); err != nil {
		return false, err
	}
	g.ids[needs.ID] = true
	if !found {
		g.named = append(g.named, needs)
	}
	for _, ref := range slices.Sorted(maps.Keys(needs.Files)) {
		if err := g.put(filepath.Join(filepath.Dir(at), filepath.FromSlash(ref)), "", needs.Files[ref], false); err != nil {
			return false, err
		}
	}
	return true, nil
}

// put adds a file once. shown is its name for the user; "": its own.
func (g *gatherer) put(name, shown string, text []byte, definition bool) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(g.root, abs)
	if err != nil {
		return err
	}
	if !definition {
		g.uses[abs] = true
	}
	rel = filepath.ToSlash(rel)
	for i := range g.all {
		if f := &g.all[i]; f.path == rel {
			if definition && f.definition {
				return cli.Usagef("%s is given twice", shown)
			}
			f.definition = f.definition || definition
			return nil
		}
	}
	g.all = append(g.all, file{rel, cmp.Or(shown, name), text, definition})
	return nil
}

// addBeside adds the sub-workflows of named files that are in the same folder, and theirs.
func (g *gatherer) addBeside() error {
	folders := map[string]map[string]string{} // files of definitions by id, by folder
	for len(g.named) > 0 {
		needs := g.named[0]
		g.named = g.named[1:]
		for _, id := range needs.Workflows {
			if g.ids[id] {
				continue
			}
			folder := filepath.Dir(needs.File)
			if folders[folder] == nil {
				folders[folder] = load.IDs(g.server.Ctx, folder)
			}
			if name, ok := folders[folder][id]; ok {
				if _, err := g.add(name, false); err != nil {
					return err
				}
			}
		}
	}
	slices.SortFunc(g.all, func(a, b file) int { return strings.Compare(path.Clean(a.path), path.Clean(b.path)) })
	return nil
}
