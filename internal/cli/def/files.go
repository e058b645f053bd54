package def

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// writeFiles writes the documents of definitions and the files that they use into a new folder. Applying that folder
// deploys the same content. Documents from the network are not written: their addresses stay in the document.
func writeFiles(r remote.Server, definitions []string, digest, folder string) error {
	files := map[string][]byte{} // all are read first, so that no half of a folder is left behind
	for _, name := range definitions {
		id, version := cli.SplitVersion(name)
		if err := addFiles(r, files, id, client.Version{Version: version, Digest: digest}); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return cli.Usagef("%s exists; --files writes a new folder", folder)
		}
		return err
	}
	root, err := os.OpenRoot(folder) // the names come from the server
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range files {
		if err := writeFile(root, name, text); err != nil {
			return err
		}
	}
	return nil
}

// addFiles reads the files of a definition. Definitions that were deployed together may share some.
func addFiles(r remote.Server, files map[string][]byte, id string, which client.Version) error {
	d, err := r.GetDefinition(r.Ctx, id, which)
	if err != nil {
		return err
	}
	which = client.Version{Digest: d.Digest} // another version may become current meanwhile
	list, err := r.ListFiles(r.Ctx, id, which)
	if err != nil {
		return err
	}
	for _, f := range list.Items {
		name := fileName(f, d)
		switch {
		case f.Remote:
			fmt.Fprintf(r.Err, "%s: not written, it is on the network\n", cli.Plain(f.Path))
			continue
		case ofGit(name):
			return fmt.Errorf("%s is not written: git obeys what is in a folder .git (lockstep def get %s --source shows the document)", cli.Plain(f.Path), id)
		}
		text, err := r.GetFile(r.Ctx, id, which, f.Path)
		if err != nil {
			return err
		}
		if other, ok := files[name]; ok && !bytes.Equal(other, text) {
			return cli.Usagef("the file %s of %s differs from that of another definition", cli.Plain(name), cli.JoinVersion(id, d.Version)).
				WithHint("write them into a folder each")
		}
		files[name] = text
	}
	return nil
}

// fileName is the name of a file in the folder: a document that was deployed alone has none of its own.
func fileName(f api.DefinitionFile, d api.Definition) string {
	if f.Document && d.Path == "" {
		return d.ID + ".yaml"
	}
	return f.Path
}

// ofGit reports whether a path lies in a folder that git takes for a repository's own: the programs that its settings name
// run as soon as somebody looks at the folder's status.
func ofGit(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		part = strings.TrimRight(part, ". ") // which Windows leaves out
		return strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
	})
}

func writeFile(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, text, 0o644)
}
