package sw10

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// location returns where the definition of a function that is called stands. It is "" for functions
// of this definition and of the server, and where the address of the catalogue is an expression.
func (k *customCall) location() string {
	if k.def == nil || k.def.endpoint == nil {
		return rawAddress(k.address, "")
	}
	root, ok := k.def.endpoint.uri.text()
	if !ok {
		return ""
	}
	return rawAddress(strings.TrimSuffix(root, "/"), "/functions/"+k.name+"/"+k.version+"/function.yaml")
}

// rawAddress returns the address of a file in a catalogue. The pages of GitHub and GitLab show a
// file; the file itself is elsewhere (Open Workflow §Catalogs).
func rawAddress(root, file string) string {
	const github, gitlab, raw = "https://github.com/", "https://gitlab.com/", "https://raw.githubusercontent.com/"
	switch {
	case strings.HasPrefix(root, github):
		parts := strings.SplitN(strings.TrimPrefix(root, github), "/", 5) // owner, repository, tree, branch, folder
		if len(parts) < 2 {
			break
		}
		base := raw + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
		if len(parts) < 4 || parts[2] != "tree" && parts[2] != "blob" {
			return base + "/HEAD" + strings.TrimPrefix(root, github+parts[0]+"/"+parts[1]) + file
		}
		return base + "/refs/heads/" + strings.Join(parts[3:], "/") + file
	case strings.HasPrefix(root, gitlab):
		project, rest, found := strings.Cut(root, "/-/")
		if !found {
			return strings.TrimSuffix(root, ".git") + "/-/raw/HEAD" + file
		}
		_, rest, _ = strings.Cut(rest, "/") // tree, blob or raw
		return project + "/-/raw/" + rest + file
	}
	return root + file
}

// fetched is a document with the definition of a function.
type fetched struct {
	doc *dialect.Document // nil: there is none
	why string            // in that case
}

// maxFunctions is the limit definition-functions, in bytes: what is fetched stands in the place of each
// of its calls.
const maxFunctions = 4 << 20

// fetch finds the function of another catalogue, or at an address. It belongs to the definition as it is
// now. One that is not there is the server's, or an error when it is called.
func (c *checker) fetch(b *callTask) {
	location := b.custom.location()
	switch at := b.custom.def; {
	case b.custom.catalogued && !semanticVersion.MatchString(b.custom.version):
		return // reported
	case c.alone:
		c.unfetched(b, "a function of a catalogue cannot call another one")
		return
	case location == "":
		c.unfetched(b, "the address of its catalogue is an expression")
		return
	case at != nil && at.endpoint.node.Get("authentication") != nil:
		c.unfetched(b, "catalogues are read without authentication")
		return
	}
	file := c.files[location]
	if file == nil {
		file = c.fetchFile(location)
		c.files[location] = file
	}
	if file.doc == nil {
		c.unfetched(b, file.why)
		return
	}
	if c.copied += len(file.doc.Source); c.copied > maxFunctions {
		if c.copied-len(file.doc.Source) <= maxFunctions { // one mistake is reported once
			c.Errorf(b.function, codeResource, "the functions of catalogues, each as often as it is called, have more than %d MiB (limit definition-functions)", maxFunctions>>20).
				WithHint("call a large function in one place: in a function of use.functions")
		}
		return
	}
	// It is read for each call: its tasks have the place of that.
	t, r := analyseFunction(c.src, file.doc)
	switch found := r.Diagnostics(); {
	case found.HasErrors():
		c.Errorf(b.function, codeResource, "the function cannot be used: %s", found.Sentence())
		return
	case len(found) > 0:
		c.Warnf(b.function, codeNoFunction, "function %q: %s", b.function.Text, found.Sentence())
	}
	t.name = b.function
	if b.custom.catalogued {
		name := *b.function
		name.Text = b.custom.name
		t.name = &name
	}
	b.custom.function, b.custom.fetched = &function{shared{node: file.doc.Root, name: b.function, used: true}, t}, true
}

func (c *checker) fetchFile(location string) *fetched {
	doc, found, err := c.src.Read(location)
	switch {
	case err != nil:
		return &fetched{why: err.Error()}
	case found.HasErrors() || doc.Root == nil:
		return &fetched{why: found.Sentence()}
	}
	return &fetched{doc: doc}
}

func (c *checker) unfetched(b *callTask, why string) {
	c.Warnf(b.function, codeNoFunction, "the function cannot be fetched: %s", why).
		WithHint("the server's catalogue must have it under this name")
}

// analyseFunction reads the definition of a function that stands alone, a task. It has no
// components to refer to, and its references are pointers into its own document.
func analyseFunction(src dialect.Source, doc *dialect.Document) (*task, *dialect.Reporter) {
	r := &dialect.Reporter{File: doc.File, Budget: src.Budget}
	p := newParser(r, src)
	p.def.node, p.alone = doc.Root, true
	p.def.document.dsl = version{patch: newestPatch}
	if doc.Root == nil {
		r.Errorf(nil, codeNotObject, "the definition of a function is an object")
		return nil, r
	}
	f := &function{shared{node: doc.Root, used: true}, p.task(doc.Root, "", nil)}
	c := newChecker(p, src.Options)
	c.collectTask(f.task)
	c.task(f.task, nil)
	return f.task, r
}
