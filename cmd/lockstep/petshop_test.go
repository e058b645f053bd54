package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// petshop FILE… starts a service for the rest of the script, sets $PETSHOP to its
// HOST:PORT, and writes that into the files where they say PETSHOP.
func petshop(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: petshop FILE…")
	}
	server := httptest.NewServer(http.HandlerFunc(servePets))
	ts.Defer(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	ts.Setenv("PETSHOP", host)
	for _, file := range args {
		path := ts.MkAbs(file)
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "PETSHOP", host)), 0o644))
	}
}

// servePets tells what it was asked. A pet called Rex is there already, and the
// owner "nobody" does not exist.
func servePets(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.Contains(r.URL.Path, "nobody"):
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"message":"there is no such owner"}`)
		return
	case strings.Contains(string(body), "Rex"):
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `{"name":"Taken","message":"there is a Rex already"}`)
		return
	}
	if len(body) == 0 {
		body = []byte("null")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "uri": r.RequestURI, "trace": r.Header.Get("X-Trace"), "media": r.Header.Get("Content-Type"),
		"token": r.Header.Get("Authorization"), "keyed": r.Header.Get("Idempotency-Key") != "", "body": json.RawMessage(body),
	})
}
