package server

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

//go:embed openapi.yaml
var contractYAML []byte

// contractJSON is the contract as JSON.
var contractJSON = sync.OnceValues(func() ([]byte, error) {
	doc, found := dialect.Read("openapi.yaml", contractYAML)
	if found.HasErrors() {
		return nil, fmt.Errorf("%w: the contract cannot be read: %w", errInternal, found)
	}
	return doc.Root.Value().AppendJSON(nil), nil
})

func (s *Server) openapiYAML(w http.ResponseWriter, _ *request) error {
	return answerText(w, http.StatusOK, "application/yaml", contractYAML)
}

func (s *Server) openapiJSON(w http.ResponseWriter, _ *request) error {
	text, err := contractJSON()
	if err != nil {
		return err
	}
	return answerText(w, http.StatusOK, "application/json", text)
}

// getProblem explains a code: the type of every problem leads here.
func (s *Server) getProblem(w http.ResponseWriter, r *request) error {
	code := api.Code(r.PathValue("code"))
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Code == code })
	if i < 0 {
		return problem(api.CodeNotFound, fmt.Sprintf("there is no problem with the code %.100q", string(code)))
	}
	return answer(w, http.StatusOK, kinds[i])
}
