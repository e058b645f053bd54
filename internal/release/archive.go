package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file in an archive: text, or the content of path; or a folder.
type file struct {
	name   string
	path   string
	text   []byte
	mode   int64 // 0: 0644, of a folder 0755
	folder bool
	owner  int // user and group
}

func (f file) content() ([]byte, error) {
	if f.path == "" {
		return f.text, nil
	}
	return os.ReadFile(f.path)
}

func (f file) permissions() int64 {
	switch {
	case f.mode != 0:
		return f.mode
	case f.folder:
		return 0o755
	}
	return 0o644
}

// header is the entry of a file in a tar archive.
func (f file) header(size int, when time.Time) *tar.Header {
	h := &tar.Header{
		Name: f.name, Mode: f.permissions(), Size: int64(size), ModTime: when, Uid: f.owner, Gid: f.owner,
		Format: tar.FormatUSTAR, Typeflag: tar.TypeReg,
	}
	if f.folder {
		h.Name, h.Typeflag = f.name+"/", tar.TypeDir
	}
	return h
}

// tarGz writes files, sorted, with the folders that hold them, as an archive whose bytes depend on nothing else.
func tarGz(w io.Writer, files []file, when time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(zipped, files, when); err != nil {
		return err
	}
	return zipped.Close()
}

func writeTar(w io.Writer, files []file, when time.Time) error {
	archive := tar.NewWriter(w)
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	made := map[string]bool{}
	for _, f := range files {
		if err := folders(archive, parent(f.name), when, made); err != nil {
			return err
		}
		text, err := f.content()
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(f.header(len(text), when)); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

func folders(archive *tar.Writer, name string, when time.Time, made map[string]bool) error {
	if name == "" || name == "." || made[name] {
		return nil
	}
	made[name] = true
	if err := folders(archive, parent(name), when, made); err != nil {
		return err
	}
	return archive.WriteHeader(file{name: name, folder: true}.header(0, when))
}

// parent is the folder of a name, with the "./" in front of names in packages.
func parent(name string) string { return name[:max(0, strings.LastIndex(name, "/"))] }

// below puts files into a folder.
func below(folder string, files []file) []file {
	out := slices.Clone(files)
	for i := range out {
		out[i].name = folder + "/" + out[i].name
	}
	return out
}

// tarball writes FOLDER.tar.gz.
func (r *release) tarball(folder string, files []file) error {
	var b bytes.Buffer
	if err := tarGz(&b, below(folder, files), r.when); err != nil {
		return err
	}
	return r.write(folder+".tar.gz", b.Bytes())
}

// zip writes FOLDER.zip.
func (r *release) zip(folder string, files []file) error {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	files = below(folder, files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		text, err := f.content()
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.when}
		h.SetMode(os.FileMode(f.permissions()))
		w, err := archive.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return r.write(folder+".zip", b.Bytes())
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// checksums writes the SHA-256 of every file, as sha256sum -c reads it.
func (r *release) checksums() error {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range list {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	fmt.Print(b.String())
	return r.write("checksums.txt", []byte(b.String()))
}
