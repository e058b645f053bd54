// Package backup is the format of backups: a gzipped tar file that begins with what it is a backup of and ends with a
// manifest. Between them are parts, each in chunks: the tables of a database, or the file that it is. The manifest has
// the size, the rows and the SHA-256 of every part, so that a file that ends early or was changed is never taken for a
// backup.
package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
)

// Format is the version of the format. A reader refuses a later one.
const Format = 1

const (
	headName     = "lockstep-backup.json"
	manifestName = "manifest.json"
	partPrefix   = "parts/"
	// chunkBytes is how much of a part is in memory ("backup-chunk").
	chunkBytes = 1 << 20
)

// Head says what a backup is a backup of.
type Head struct {
	Format  int       `json:"format"`
	Store   string    `json:"store"`   // the kind: sqlite or postgres
	Schema  int       `json:"schema"`  // of the database
	Version string    `json:"version"` // of the program that wrote it
	Created time.Time `json:"created"` // no later than the moment that it shows
}

// Part is a part of a backup.
type Part struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Manifest lists the parts of a backup, in their order.
type Manifest struct {
	Parts    []Part `json:"parts"`
	Sequence int64  `json:"sequence,omitempty"` // that PostgreSQL counts on from
}

// Writer writes a backup.
type Writer struct {
	gz       *gzip.Writer
	tar      *tar.Writer
	created  time.Time
	Manifest Manifest
}

// NewWriter begins a backup.
func NewWriter(w io.Writer, head Head) (*Writer, error) {
	gz := gzip.NewWriter(w)
	out := &Writer{gz: gz, tar: tar.NewWriter(gz), created: head.Created}
	head.Format = Format
	return out, out.object(headName, head)
}

func (w *Writer) object(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.entry(name, append(data, '\n'))
}

func (w *Writer) entry(name string, data []byte) error {
	if err := w.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: w.created}); err != nil {
		return err
	}
	_, err := w.tar.Write(data)
	return err
}

// Part writes a part. The function writes what it has, and returns how many rows that are.
func (w *Writer) Part(name string, write func(io.Writer) (rows int64, err error)) error {
	p := &partWriter{w: w, name: name, sum: sha256.New()}
	rows, err := write(p)
	if err == nil {
		err = p.flush()
	}
	if err != nil {
		return fmt.Errorf("back up %s: %w", name, err)
	}
	w.Manifest.Parts = append(w.Manifest.Parts, Part{Name: name, Rows: rows, Bytes: p.bytes, SHA256: hex.EncodeToString(p.sum.Sum(nil))})
	return nil
}

// Close ends the backup with its manifest.
func (w *Writer) Close() error {
	return errors.Join(w.object(manifestName, w.Manifest), w.tar.Close(), w.gz.Close())
}

// partWriter cuts a part into chunks.
type partWriter struct {
	w      *Writer
	name   string
	buffer bytes.Buffer
	sum    hash.Hash
	bytes  int64
}

func (p *partWriter) Write(data []byte) (int, error) {
	p.sum.Write(data)
	p.bytes += int64(len(data))
	p.buffer.Write(data)
	for p.buffer.Len() >= chunkBytes {
		if err := p.w.entry(partPrefix+p.name, p.buffer.Next(chunkBytes)); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

func (p *partWriter) flush() error {
	if p.buffer.Len() == 0 {
		return nil
	}
	return p.w.entry(partPrefix+p.name, p.buffer.Bytes())
}

// DamagedError says why a file is not a backup that can be used.
type DamagedError struct{ Msg string }

func (e *DamagedError) Error() string { return e.Msg }

func damaged(format string, args ...any) error { return &DamagedError{fmt.Sprintf(format, args...)} }

// ReadHead reads what a file is a backup of.
func ReadHead(r io.Reader) (Head, error) {
	_, _, head, err := open(r)
	return head, err
}

func open(r io.Reader) (*gzip.Reader, *tar.Reader, Head, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, Head{}, damaged("it is not a backup of lockstep")
	}
	t := tar.NewReader(gz)
	h, err := t.Next()
	if err != nil || h.Name != headName {
		return nil, nil, Head{}, damaged("it is not a backup of lockstep")
	}
	var head Head
	if err := readObject(t, &head); err != nil {
		return nil, nil, Head{}, err
	}
	if head.Format != Format {
		return nil, nil, head, damaged("it has format %d, and this lockstep knows %d: it was written by a newer one", head.Format, Format)
	}
	return gz, t, head, nil
}

// Read reads a backup. part returns where a part goes; its Close is called when the part is over. What was written to
// it counts only if Read returns without an error: the manifest comes last.
func Read(r io.Reader, part func(Head, string) (io.WriteCloser, error)) (Head, Manifest, error) {
	gz, t, head, err := open(r)
	if err != nil {
		return head, Manifest{}, err
	}
	in := reader{head: head, part: part}
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return head, Manifest{}, errors.Join(damaged("it is not complete: its manifest is missing"), in.end())
		case err != nil:
			return head, Manifest{}, errors.Join(broken(err), in.end())
		case h.Name == manifestName:
			m, err := in.finish(t)
			if err == nil {
				if _, last := io.Copy(io.Discard, gz); last != nil { // its checksum is behind everything
					err = broken(last)
				}
			}
			return head, m, err
		}
		name, ok := strings.CutPrefix(h.Name, partPrefix)
		if !ok || h.Size > chunkBytes {
			return head, Manifest{}, errors.Join(damaged("it has an unknown part %.100q", h.Name), in.end())
		}
		if err := in.chunk(name, t); err != nil {
			return head, Manifest{}, errors.Join(err, in.end())
		}
	}
}

// broken is an error of reading as one of the file.
func broken(err error) error { return damaged("it is damaged or not complete: %v", err) }

func readObject(r io.Reader, v any) error {
	data, err := io.ReadAll(io.LimitReader(r, chunkBytes))
	if err != nil {
		return broken(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return broken(err)
	}
	return nil
}

// reader reads the parts.
type reader struct {
	head  Head
	part  func(Head, string) (io.WriteCloser, error)
	to    io.WriteCloser // of the part that is being read
	sum   hash.Hash
	found []Part
}

func (in *reader) chunk(name string, r io.Reader) error {
	if n := len(in.found); n == 0 || in.found[n-1].Name != name {
		if err := in.end(); err != nil {
			return err
		}
		to, err := in.part(in.head, name)
		if err != nil {
			return err
		}
		in.to, in.sum = to, sha256.New()
		in.found = append(in.found, Part{Name: name})
	}
	read := &readError{Reader: r}
	n, err := io.Copy(io.MultiWriter(in.sum, in.to), read)
	in.found[len(in.found)-1].Bytes += n
	if read.err != nil {
		return broken(read.err)
	}
	return err
}

// readError keeps the error of a reader apart from that of the writer.
type readError struct {
	io.Reader
	err error
}

func (r *readError) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// end ends the part that is being read.
func (in *reader) end() error {
	if in.to == nil {
		return nil
	}
	err := in.to.Close()
	in.found[len(in.found)-1].SHA256 = hex.EncodeToString(in.sum.Sum(nil))
	in.to = nil
	return err
}

// finish compares what was read with the manifest, and reads to the end of the file.
func (in *reader) finish(t *tar.Reader) (Manifest, error) {
	var m Manifest
	if err := errors.Join(in.end(), readObject(t, &m)); err != nil {
		return m, err
	}
	read := map[string]Part{}
	for _, p := range in.found {
		read[p.Name] = p
	}
	for _, p := range m.Parts {
		got := read[p.Name]
		if got.Bytes != p.Bytes || p.Bytes > 0 && got.SHA256 != p.SHA256 {
			return m, damaged("its part %s is not what was written", p.Name)
		}
		delete(read, p.Name)
	}
	if len(read) > 0 || len(in.found) > len(m.Parts) {
		return m, damaged("it has parts that its manifest does not list")
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return m, damaged("something follows its manifest")
	}
	return m, nil
}
