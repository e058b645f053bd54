package wfx

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

//go:embed openapi.yaml
var contractYAML []byte

// ContractJSON is the contract as JSON.
var ContractJSON = sync.OnceValues(func() ([]byte, error) {
	doc, found := dialect.Read("openapi.yaml", contractYAML)
	if found.HasErrors() {
		return nil, fmt.Errorf("%w: the contract cannot be read: %w", errBroken, found)
	}
	return doc.Root.Value().AppendJSON(nil), nil
})

func (v *View) getOpenAPI(w http.ResponseWriter, _ *request) error {
	text, err := ContractJSON()
	return writeDocument(w, "application/json", text, err)
}

// getSwagger serves the contract in the older format, with wfx's content type.
func (v *View) getSwagger(w http.ResponseWriter, _ *request) error {
	text, err := SwaggerJSON()
	return writeDocument(w, "text/plain; charset=utf-8", text, err)
}

func writeDocument(w http.ResponseWriter, media string, text []byte, err error) error {
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(text)
	return nil
}

// getRoot links to the contract. The address is absolute, as in wfx: SWUpdate follows no other.
func (v *View) getRoot(w http.ResponseWriter, r *request) error {
	at := url.URL{Host: r.Host, Path: Base + "/openapi.json"}
	if r.Host != "" {
		at.Scheme = "http"
		if r.TLS != nil {
			at.Scheme = "https"
		}
	}
	w.Header().Set("Link", "<"+at.String()+`>; rel="service-desc"`)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (v *View) getVersion(w http.ResponseWriter, r *request) error {
	return v.answer(w, r, http.StatusOK, object(
		"apiVersion", expr.String("v1"), "commit", expr.String(v.cfg.Commit), "version", expr.String(v.cfg.Version)))
}

// getHealth makes a small request to the store.
func (v *View) getHealth(w http.ResponseWriter, r *request) error {
	state, status := "up", http.StatusOK
	check := object("timestamp", expr.String(v.cfg.Clock.Now().UTC().Format(time.RFC3339Nano)))
	if _, err := v.engine.FeedEnd(r.Context()); err != nil {
		state, status = "down", http.StatusServiceUnavailable
		check = check.With("error", expr.String("the store cannot be read"))
	}
	check = check.With("status", expr.String(state))
	h := w.Header()
	h.Set("Pragma", "no-cache")
	h.Set("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")
	return v.answer(w, r, status, object("details", object("persistence", check), "status", expr.String(state)))
}
