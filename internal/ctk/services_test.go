package ctk

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

type animal struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

var animals = []animal{{1, "Minou", "available"}, {2, "Waldo", "sold"}, {3, "Kiki", "available"}}

// services starts stand-ins for the two public services that the kit's definitions call, and gives
// what to write in place of their addresses.
func services(t *testing.T) map[string]string {
	pets := httptest.NewServer(petService())
	t.Cleanup(pets.Close)
	logins := httptest.NewServer(loginService())
	t.Cleanup(logins.Close)
	return map[string]string{"https://petstore.swagger.io": pets.URL, "https://httpbin.org": logins.URL}
}

func petService() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/pet/findByStatus", func(w http.ResponseWriter, r *http.Request) {
		found := []animal{}
		for _, a := range animals {
			if strings.Contains(","+strings.Join(r.URL.Query()["status"], ",")+",", ","+a.Status+",") {
				found = append(found, a)
			}
		}
		write(w, found)
	})
	mux.HandleFunc("GET /v2/pet/{id}", func(w http.ResponseWriter, r *http.Request) {
		for _, a := range animals {
			if id, err := json.Number(r.PathValue("id")).Int64(); err == nil && id == int64(a.ID) {
				write(w, a)
				return
			}
		}
		http.Error(w, "no such animal", http.StatusNotFound)
	})
	mux.HandleFunc("GET /v2/swagger.json", func(w http.ResponseWriter, r *http.Request) {
		parameter := func(name, in, kind string) map[string]any {
			return map[string]any{"name": name, "in": in, "type": kind, "required": true}
		}
		operation := func(id string, parameter map[string]any) map[string]any {
			return map[string]any{"get": map[string]any{
				"operationId": id, "produces": []string{"application/json"},
				"parameters": []any{parameter}, "responses": map[string]any{"200": map[string]any{"description": "what was found"}},
			}}
		}
		write(w, map[string]any{
			"swagger": "2.0", "info": map[string]any{"title": "Animals", "version": "1"},
			"host": r.Host, "basePath": "/v2", "schemes": []string{"http"},
			"paths": map[string]any{
				"/pet/findByStatus": operation("findPetsByStatus", parameter("status", "query", "string")),
				"/pet/{petId}":      operation("getPetById", parameter("petId", "path", "integer")),
			},
		})
	})
	return mux
}

func loginService() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /basic-auth/{user}/{password}", func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || user != r.PathValue("user") || password != r.PathValue("password") {
			w.Header().Set("WWW-Authenticate", `Basic realm="stand-in"`)
			http.Error(w, "who is there?", http.StatusUnauthorized)
			return
		}
		write(w, map[string]any{"authenticated": true, "user": user})
	})
	return mux
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
