package server

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Schema is a JSON Schema that is served to editors.
type Schema struct {
	Names []string // it is served as /schemas/NAME.json under each
	Text  func() []byte
}

// noPage are the paths under which the page never is: they are for programs, which need a 404.
var noPage = []string{"/api", "/schemas", "/problems", "/download"}

// isPage reports whether a request without a route is for the page: for one of its files, or for its
// document by a browser. Programs get a 404.
func (s *Server) isPage(r *http.Request) bool {
	if s.cfg.Page == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if slices.ContainsFunc(noPage, func(prefix string) bool {
		return r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/")
	}) {
		return false
	}
	return s.cfg.PageFile != nil && s.cfg.PageFile(r.URL.Path) || acceptsHTML(r)
}

// acceptsHTML reports whether a client accepts text/html by name, as browsers do when they open a page.
func acceptsHTML(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			media, params, err := mime.ParseMediaType(part)
			if err != nil || media != "text/html" {
				continue
			}
			if q, err := strconv.ParseFloat(params["q"], 64); err != nil || q > 0 {
				return true
			}
		}
	}
	return false
}

// pageRoute stands for the page in metrics and logs.
var pageRoute = &route{method: "GET", operation: "page", cost: free}

func (s *Server) getSchema(w http.ResponseWriter, r *request) error {
	file := r.PathValue("schema")
	name, isJSON := strings.CutSuffix(file, ".json")
	var names []string
	for _, schema := range s.cfg.Schemas {
		if isJSON && slices.Contains(schema.Names, name) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*") // for editors in browsers; it is not secret
			h.Set("Cache-Control", "no-cache")
			return answerText(w, http.StatusOK, "application/schema+json", schema.Text())
		}
		names = append(names, schema.Names[0]+".json")
	}
	p := problem(api.CodeNotFound, fmt.Sprintf("there is no schema %.100q", file)).hint("there are " + strings.Join(names, ", "))
	if near := dialect.Suggest(file, names); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}
