// Package ui is the web page of the server: its sources in TypeScript, built by Vite, and the
// build, which is embedded so that building Lockstep needs only Go.
//
// src/router.ts keeps the state in the address, src/live.ts follows the stream, src/pages has a
// file for each page, src/parts what pages share. `make ui` builds.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// policy lets the page load its own files and talk to its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one file of the page.
type file struct {
	media, tag   string
	text, zipped []byte // zipped is nil if it is not smaller
}

// files reads the build once, and compresses it: it never changes while a server runs.
var files = sync.OnceValue(func() map[string]file {
	all := map[string]file{}
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		f := file{media: mediaOf(name), tag: hex.EncodeToString(sum[:8]), text: text}
		if zipped := compress(text); len(zipped) < len(text) {
			f.zipped = zipped
		}
		all[strings.TrimPrefix(name, "dist/")] = f
		return nil
	})
	if err != nil {
		panic(err) // the files are embedded
	}
	return all
})

// mediaOf knows the types of files in the build: the table of the machine may differ.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	if media := mime.TypeByExtension(path.Ext(name)); media != "" {
		return media
	}
	return "application/octet-stream"
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for an invalid level
	_, _ = z.Write(text)                                  // a bytes.Buffer does not fail
	_ = z.Close()
	return b.Bytes()
}

// Handler serves the page: its files, and for every other path its document, which shows what
// belongs to that path.
func Handler() http.Handler { return http.HandlerFunc(serve) }

// HasFile reports whether a path is that of a file of the page, or may be one of another build, for
// which Handler answers 404.
func HasFile(at string) bool {
	name := fileName(at)
	_, ok := files()[name]
	return ok || strings.HasPrefix(name, "assets/")
}

func fileName(at string) string { return strings.TrimPrefix(path.Clean(at), "/") }

func serve(w http.ResponseWriter, r *http.Request) {
	name := fileName(r.URL.Path)
	f, ok := files()[name]
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	switch asset := strings.HasPrefix(name, "assets/"); {
	case ok && asset: // their names change with their content
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	case asset:
		http.NotFound(w, r)
		return
	case !ok:
		if f, ok = files()["index.html"]; !ok {
			http.Error(w, "the page is not built; run make ui", http.StatusInternalServerError)
			return
		}
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Add("Vary", "Accept-Encoding")
	text, tag := f.text, f.tag
	if f.zipped != nil && takesGzip(r.Header.Get("Accept-Encoding")) {
		text, tag = f.zipped, f.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	if strings.Contains(r.Header.Get("If-None-Match"), `"`+tag+`"`) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.media)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // an error means that the client disconnected
	}
}

// takesGzip reports whether a client accepts compressed responses.
func takesGzip(accept string) bool {
	for word := range strings.SplitSeq(accept, ",") {
		coding, quality, _ := strings.Cut(strings.TrimSpace(word), ";")
		if coding == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
