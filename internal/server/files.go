package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// sourceName is the name of a definition's document beside its files.
func sourceName(row store.Definition) string {
	if row.Path != "" {
		return row.Path
	}
	return documentName
}

// storedFiles are the document of a definition and the files and documents that it uses, by path or address.
func storedFiles(row store.Definition) (map[string][]byte, error) {
	var stored struct {
		Program struct {
			Resources []ir.Resource `json:"resources"`
		} `json:"program"`
	}
	if err := json.Unmarshal(row.Program, &stored); err != nil {
		return nil, fmt.Errorf("%w: read program of %s: %w", errInternal, row.ID, err)
	}
	out := filesOf(sourceName(row), stored.Program.Resources)
	if row.Source != nil {
		out[sourceName(row)] = row.Source
	}
	return out, nil
}

func (s *Server) listFiles(w http.ResponseWriter, r *request) error {
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	files, err := storedFiles(row)
	if err != nil {
		return err
	}
	out := api.Page[api.DefinitionFile]{Items: []api.DefinitionFile{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		out.Items = append(out.Items, api.DefinitionFile{
			Path: name, Bytes: int64(len(files[name])), Digest: hex.EncodeToString(sum[:]),
			Document: name == sourceName(row), Remote: strings.Contains(name, "://"),
		})
	}
	setDigest(w, row)
	return answer(w, http.StatusOK, out)
}

// getFile answers with a file of a definition.
func getFile(w http.ResponseWriter, row store.Definition, name string) error {
	files, err := storedFiles(row)
	if err != nil {
		return err
	}
	text, ok := files[name]
	if !ok {
		return problem(api.CodeNotFound, fmt.Sprintf("definition %q version %q has no file %.100q", row.ID, row.Version, name)).
			hint("its files are " + strings.Join(slices.Sorted(maps.Keys(files)), ", "))
	}
	setDigest(w, row)
	return answerText(w, http.StatusOK, "application/octet-stream", text)
}

// diffFiles compares two sets of files, by name; told has the comparisons that were written before.
func diffFiles(labelA, labelB string, a, b map[string][]byte, told map[string]bool) string {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, had := a[name]
		now, has := b[name]
		from, to := "/dev/null", "/dev/null"
		if had {
			from = labelOf(labelA, name)
		}
		if has {
			to = labelOf(labelB, name)
		}
		text := unified(from, to, string(old), string(now))
		if text == "" && had != has { // an empty file
			text = fmt.Sprintf("--- %s\n+++ %s\n", from, to)
		}
		_, lines, _ := strings.Cut(text, "\n")
		_, lines, _ = strings.Cut(lines, "\n")
		if key := name + "\x00" + lines; text != "" && !told[key] {
			told[key] = true
			out.WriteString(text)
		}
	}
	return out.String()
}

// labelOf is the name of a file in a comparison. A document that was deployed alone has none.
func labelOf(version, name string) string {
	if name == documentName {
		return version
	}
	return version + "/" + name
}

// maxDiffBytes is how much is shown of the comparison of a bundle ("diff-bytes").
const maxDiffBytes = 8 << 20

// diffBundle compares a bundle with what is current: one comparison for all definitions and files. A file that several
// definitions use is there once.
func (s *Server) diffBundle(ctx context.Context, docs []engine.Document, done []engine.Deployed) (string, error) {
	told := map[string]bool{}
	var out strings.Builder
	for i, d := range docs {
		before, old := done[i].Before, map[string][]byte{}
		if before.Digest == done[i].Row.Digest {
			continue
		}
		now := filesOf(d.Path, d.Program.Resources)
		now[d.Path] = d.Source
		if before.ID != "" {
			row, err := s.engine.Definition(ctx, before.ID, before.Version)
			if err != nil {
				return "", err
			}
			row.Path = d.Path // where the document is now, whatever it was called then
			if old, err = storedFiles(row); err != nil {
				return "", err
			}
		}
		label := d.Program.ID + "@"
		out.WriteString(diffFiles(label+before.Version, label+d.Program.Version, old, now, told))
		if out.Len() > maxDiffBytes {
			return out.String()[:maxDiffBytes] + "\n… the rest is left out (limit diff-bytes)\n", nil
		}
	}
	return out.String(), nil
}
