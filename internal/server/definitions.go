package server

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/graph"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func (s *Server) listDefinitions(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	which, err := r.choice("versions", "current", "all")
	if err != nil {
		return err
	}
	after, err := r.after('d')
	if err != nil {
		return err
	}
	rows, err := s.engine.Definitions(r.Context())
	if err != nil {
		return err
	}
	if which == "current" {
		rows = slices.DeleteFunc(rows, func(d store.Definition) bool { return !d.Current })
	}
	if after != "" {
		rows = rows[afterDefinition(rows, after):]
	}
	out := s.newPage(limit)
	for i, row := range rows {
		fits, err := out.add(s.viewDeployed(row))
		if err != nil {
			return err
		}
		if !fits {
			last := rows[i-1]
			out.Next = cursor('d', last.ID+"\x00"+last.Version)
			break
		}
	}
	return answer(w, http.StatusOK, out)
}

// afterDefinition is the index after the definition that ended a page, even if that was deleted since.
func afterDefinition(rows []store.Definition, after string) int {
	id, version, _ := strings.Cut(after, "\x00")
	for i, row := range rows {
		switch {
		case row.ID == id && row.Version == version:
			return i + 1
		case row.ID > id:
			return i
		}
	}
	return len(rows)
}

// definition reads the definition that a request names: by digest, by version, or the current one.
func (s *Server) definition(r *request) (store.Definition, error) {
	id, version := r.PathValue("definition"), r.query.Get("version")
	digest := r.query.Get("digest")
	if digest == "" {
		return s.engine.Definition(r.Context(), id, version)
	}
	if version != "" {
		return store.Definition{}, badParameter("digest", "cannot be combined with version: each selects one content")
	}
	rows, err := s.engine.Definitions(r.Context()) // a deployed version has more than its content
	if err != nil {
		return store.Definition{}, err
	}
	for _, row := range rows {
		if row.ID == id && row.Digest == digest {
			return s.engine.Definition(r.Context(), id, row.Version) // lists leave out the document
		}
	}
	row, err := s.engine.Content(r.Context(), id, digest)
	row.Current = false
	return row, err
}

func setDigest(w http.ResponseWriter, row store.Definition) {
	w.Header().Set("ETag", `"`+row.Digest+`"`)
}

func (s *Server) getDefinition(w http.ResponseWriter, r *request) error {
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	v := s.viewDeployed(row)
	if v.InputSchema, err = inputSchema(row); err != nil {
		return err
	}
	setDigest(w, row)
	return answer(w, http.StatusOK, v)
}

// maxInputSchema is how large a schema is told with its definition ("input-schema-bytes").
const maxInputSchema = 256 << 10

// inputSchema is the schema of a definition's input; nil: it has none, or a larger one than is told.
func inputSchema(row store.Definition) (api.Data, error) {
	p, err := ir.Decode(row.Program)
	if err != nil {
		return nil, fmt.Errorf("%w: read program of %s: %w", errInternal, row.ID, err)
	}
	text := pin.InputSchema(p)
	if text == "" || len(text) > maxInputSchema {
		return nil, nil
	}
	return api.Data(text), nil
}

func (s *Server) deleteDefinition(w http.ResponseWriter, r *request) error {
	id, version := r.PathValue("definition"), r.query.Get("version")
	rows, err := s.versions(r.Context(), id)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if version == "" || version == row.Version {
			r.deed.changed(row.ID+" "+row.Version, row.Digest, "")
		}
	}
	if err := s.engine.DeleteDefinition(r.Context(), id, version); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) versions(ctx context.Context, id string) ([]store.Definition, error) {
	rows, err := s.engine.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(d store.Definition) bool { return d.ID != id })
	if len(rows) == 0 {
		return nil, &engine.NotFoundError{Kind: "definition", ID: id}
	}
	return rows, nil
}

func (s *Server) listVersions(w http.ResponseWriter, r *request) error {
	rows, err := s.versions(r.Context(), r.PathValue("definition"))
	if err != nil {
		return err
	}
	out := api.Page[api.Definition]{Items: []api.Definition{}}
	for _, row := range rows {
		out.Items = append(out.Items, s.viewDeployed(row))
	}
	return answer(w, http.StatusOK, out)
}

// sourceOf is the document of a definition.
func sourceOf(row store.Definition) ([]byte, error) {
	if row.Source == nil {
		return nil, problem(api.CodeNotFound, fmt.Sprintf("definition %q version %q has no document: it was deployed as a program", row.ID, row.Version))
	}
	return row.Source, nil
}

func (s *Server) getSource(w http.ResponseWriter, r *request) error {
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	if name := r.query.Get("file"); name != "" {
		return getFile(w, row, name)
	}
	source, err := sourceOf(row)
	if err != nil {
		return err
	}
	setDigest(w, row)
	media := "application/yaml"
	if text := bytes.TrimSpace(source); len(text) > 0 && text[0] == '{' {
		media = "application/json"
	}
	return answerText(w, http.StatusOK, media, source)
}

func (s *Server) getGraph(w http.ResponseWriter, r *request) error {
	format, err := r.choice("format", graph.Formats...)
	if err != nil {
		return err
	}
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	drawing, err := s.drawings.get(r.Context(), drawingKey{row.Digest, format}, func() ([]byte, error) {
		p, err := ir.Decode(row.Program)
		if err != nil {
			return nil, fmt.Errorf("%w: read program of %s: %w", errInternal, row.ID, err)
		}
		return draw(r.Context(), p, format)
	})
	if err != nil {
		return err
	}
	setDigest(w, row)
	media := "text/plain; charset=utf-8"
	if format == "svg" {
		media = "image/svg+xml"
	}
	return answerText(w, http.StatusOK, media, drawing)
}

func (s *Server) diffDefinition(w http.ResponseWriter, r *request) error {
	id := r.PathValue("definition")
	if !r.query.Has("from") {
		return badParameter("from", "is required: the version to compare with")
	}
	var rows [2]store.Definition
	var files [2]map[string][]byte
	for i, version := range []string{r.query.Get("from"), r.query.Get("to")} {
		row, err := s.engine.Definition(r.Context(), id, version)
		if err != nil {
			return err
		}
		if _, err := sourceOf(row); err != nil {
			return err
		}
		rows[i] = row
	}
	at := cmp.Or(rows[1].Path, rows[0].Path) // the document is the same, wherever it was deployed from
	for i := range rows {
		rows[i].Path = at
		var err error
		if files[i], err = storedFiles(rows[i]); err != nil {
			return err
		}
	}
	text := diffFiles(rows[0].ID+"@"+rows[0].Version, rows[1].ID+"@"+rows[1].Version, files[0], files[1], map[string]bool{})
	return answerText(w, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// definitionPath is the path of a definition.
func definitionPath(d api.Definition) string {
	return "/api/v1/definitions/" + url.PathEscape(d.ID) + "?version=" + url.QueryEscape(d.Version)
}
