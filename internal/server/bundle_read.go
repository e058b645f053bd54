package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A bundle is multipart/form-data: a part with a file name is a file, and its field name is the path. curl, a form of
// a page and every HTTP library can send that without an archive, and folders keep their names: curl and browsers leave
// the folder out of file names.
func (s *Server) deployBundle(w http.ResponseWriter, r *request) error {
	b, dry, err := deployOptions(r)
	if err != nil {
		return err
	}
	text, _, err := s.body(r, "bundle-bytes", s.limits.Bundle, "multipart/form-data")
	if err != nil {
		return err
	}
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	upload, err := readUpload(text, params["boundary"])
	if err != nil {
		return err
	}
	if b, err = s.sort(r, upload, b); err != nil {
		return err
	}
	v, err := s.deploy(r.Context(), r.visit.who, b, dry)
	if err != nil {
		return err
	}
	if !dry {
		r.deed.target = r.URL.Path + "/" + v.Digest
		for _, d := range v.Definitions {
			if d.Change != api.ChangeUnchanged {
				r.deed.changed(d.Definition.ID, d.Before, d.Definition.Digest)
			}
			s.logDeployed(r, d)
		}
	}
	return answer(w, http.StatusOK, v)
}

// upload is what a client sent.
type upload struct {
	files       map[string][]byte // by path
	definitions []string          // the paths of definitions; nil: they are recognized
}

// readUpload reads the parts of a body.
func readUpload(body []byte, boundary string) (upload, error) {
	out := upload{files: map[string][]byte{}}
	if boundary == "" {
		return out, problem(api.CodeInvalid, "the content type has no boundary, or the body is empty").hint("curl -F writes both")
	}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out, out.folders()
		}
		if err != nil {
			return out, problem(api.CodeInvalid, "the body is not multipart/form-data: "+err.Error())
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return out, problem(api.CodeInvalid, "the body is not multipart/form-data: "+err.Error())
		}
		if err := out.add(part, text); err != nil {
			return out, err
		}
	}
}

// add takes one part.
func (u *upload) add(part *multipart.Part, text []byte) error {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name := params["name"]
	_, isFile := params["filename"]
	switch {
	case err != nil:
		return problem(api.CodeInvalid, "a part of the body has no valid Content-Disposition")
	case !isFile && name != "definition":
		return problem(api.CodeInvalid, fmt.Sprintf("the field %.100q is not known", name)).
			hint("send files as -F PATH=@FILE; the only other field is definition, the path of a definition")
	case !isFile:
		u.definitions = append(u.definitions, string(text))
		if len(u.definitions) > MaxBundleDefinitions {
			return overLimit("bundle-definitions", fmt.Sprintf("the bundle has more than %d definitions", MaxBundleDefinitions))
		}
		return nil
	}
	if err := checkBundlePath(name); err != nil {
		return err
	}
	if _, twice := u.files[name]; twice {
		return problem(api.CodeInvalid, fmt.Sprintf("the bundle has the file %q twice", name))
	}
	if int64(len(text)) > int64(dialect.DefaultLimits.Bytes) {
		return overLimit("document-bytes", fmt.Sprintf("the file %q has more than %d bytes", name, dialect.DefaultLimits.Bytes))
	}
	if u.files[name] = text; len(u.files) > MaxBundleFiles {
		return overLimit("bundle-files", fmt.Sprintf("the bundle has more than %d files", MaxBundleFiles))
	}
	return nil
}

// folders refuses a file that is a folder of another one: no folder on a disk holds both.
func (u *upload) folders() error {
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if _, both := u.files[folder]; both {
				return problem(api.CodeInvalid, fmt.Sprintf("%.100q is a file of the bundle, and the folder of %.100q", folder, name))
			}
		}
	}
	return nil
}

// checkBundlePath refuses a path that leaves the bundle, or that another system would read differently.
func checkBundlePath(name string) error {
	unsafe := func(r rune) bool { return r == '\\' || unicode.IsControl(r) }
	switch {
	case len(name) > maxBundlePath:
		return overLimit("bundle-path", fmt.Sprintf("the path %.100q… has more than %d bytes", name, maxBundlePath))
	case !fs.ValidPath(name) || name == "." || strings.ContainsFunc(name, unsafe) || !store.Storable(name):
		return problem(api.CodeInvalid, fmt.Sprintf("%.100q is not a path of a file in a bundle", name)).
			hint("give it relative to the folder of the bundle, with / and without . and ..: schemas/order.json")
	}
	return nil
}

// sort finds the definitions among the files.
func (s *Server) sort(r *request, u upload, b Bundle) (Bundle, error) {
	b.Whole = true
	names := u.definitions
	if names == nil {
		work, err := s.compiling(r.Context(), r.visit.who, "request-time", s.limits.ReadTimeout) // reading is as expensive as compiling
		if err != nil {
			return b, err
		}
		defer work.leave()
		for _, name := range slices.Sorted(maps.Keys(u.files)) {
			if MayBeDefinition(name) && s.cfg.Registry.IsDefinition(name, u.files[name]) {
				names = append(names, name)
			}
		}
	}
	folders := map[string]dialect.MapBundle{}
	taken := map[string]bool{}
	for _, name := range names {
		text, ok := u.files[name]
		switch {
		case !ok:
			return b, problem(api.CodeInvalid, fmt.Sprintf("the bundle has no file %.100q, which it names as a definition", name))
		case taken[name]:
			return b, problem(api.CodeInvalid, fmt.Sprintf("%q is named twice as a definition", name))
		}
		taken[name] = true
		folder := path.Dir(name)
		if folders[folder] == nil {
			folders[folder] = below(u.files, folder)
		}
		b.Documents = append(b.Documents, Document{Name: name, Text: text, Dialect: r.query.Get("dialect"), Files: folders[folder]})
	}
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		if !taken[name] {
			b.Unused = append(b.Unused, name)
		}
	}
	return b, nil
}

// MayBeDefinition reports whether a file of a bundle can be a definition, by its path: hidden folders and scenario files
// are left out.
func MayBeDefinition(name string) bool {
	hidden := slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(folder string) bool {
		return len(folder) > 1 && folder[0] == '.'
	})
	return dialect.IsDocument(name) && !scenario.IsFile(path.Base(name)) && !hidden
}

// below are the files of a folder, by path relative to it: a definition refers to files in its folder and below it.
func below(files map[string][]byte, folder string) dialect.MapBundle {
	out := dialect.MapBundle{}
	for name, text := range files {
		if folder == "." {
			out[name] = text
		} else if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			out[rest] = text
		}
	}
	return out
}
