package def

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// writeFiles writes the document of a definition and the files that it uses into a new folder. Applying that folder
// deploys the same content. Documents from the network are not written: their addresses stay in the document.
func writeFiles(r remote.Server, id string, which client.Version, folder string) error {
	d, err := r.GetDefinition(r.Ctx, id, which)
	if err != nil {
		return err
	}
	which = client.Version{Digest: d.Digest} // another version may become current meanwhile
	list, err := r.ListFiles(r.Ctx, id, which)
	if err != nil {
		return err
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
	for _, f := range list.Items {
		if f.Remote {
			fmt.Fprintf(r.Err, "%s: not written, it is on the network\n", cli.Plain(f.Path))
			continue
		}
		text, err := r.GetFile(r.Ctx, id, which, f.Path)
		if err != nil {
			return err
		}
		if err := writeFile(root, fileName(f, d), text); err != nil {
			return err
		}
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

func writeFile(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, text, 0o644)
}
