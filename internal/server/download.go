package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// downloads is where the file server begins.
const downloads = "/download/"

// maxDownloads is how many files are sent at a time ("open-downloads").
const maxDownloads = 1024 // open-downloads

// deviceDownloads is how many of them go to one device ("device-downloads").
const deviceDownloads = 8

// Downloads serves the files of a folder, without listings. Links cannot lead out of the folder.
type Downloads struct {
	root   *os.Root
	client func(*http.Request) (id string, restricted bool, err error)
	known  bool // client identifies devices
	places *admit.Pool
	within time.Duration // the client must read a part
}

// NewDownloads opens a folder. On the south, client decides who is served; nil serves everyone. On the
// north, files are for the roles that may read.
func NewDownloads(dir string, client func(*http.Request) (string, bool, error)) (*Downloads, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("download folder: %w", err)
	}
	d := &Downloads{
		root: root, client: client, known: client != nil, within: DefaultLimits.WriteTimeout,
		places: admit.NewPool("open-downloads", admit.Size{All: maxDownloads, Device: deviceDownloads}),
	}
	if client == nil {
		d.client = wfx.HeaderClient
	}
	return d, nil
}

// Close closes the folder.
func (d *Downloads) Close() error { return d.root.Close() }

// withDownloads serves files on a side, under the same hosts and to the same users as everything else on
// that side, and passes other paths to the next handler.
func (s *Server) withDownloads(side wfx.Side, d *Downloads, next http.Handler) http.Handler {
	if d == nil {
		return next
	}
	identify := d.device
	if side == wfx.North {
		identify = s.reader
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, downloads) {
			next.ServeHTTP(w, r)
			return
		}
		begun := time.Now()
		at, r := traceOf(r)
		rec := &recorder{ResponseWriter: w, limits: &s.limits}
		s.protect(rec.Header(), r)
		who := identity{}
		defer func() { s.account(r, rec, downloadRoute, who, at, time.Since(begun)) }()
		if err := s.checkSideHost(side, r); err != nil {
			problemOf(err).write(rec)
			return
		}
		d.serve(rec, r, func(r *http.Request) (admit.Holder, error) {
			if err := s.checkCertificate(r); err != nil {
				return admit.Holder{}, err
			}
			holder, err := identify(r)
			who.name = holder.Key
			return holder, err
		})
	})
}

// downloadRoute stands for downloads in metrics and logs.
var downloadRoute = &route{method: "GET", operation: "download"}

// device identifies the client of a request on the south.
func (d *Downloads) device(r *http.Request) (admit.Holder, error) {
	id, _, err := d.client(r)
	if err == nil && d.known && id != "" {
		return admit.Holder{Key: "client " + id, Device: true}, nil
	}
	return addressOf(r), err
}

// reader identifies the user of a request on the north, who must be allowed to read.
func (s *Server) reader(r *http.Request) (admit.Holder, error) {
	who, err := s.identify(r)
	if err != nil {
		return admit.Holder{}, err
	}
	return s.holderOf(who, r), (&route{roles: readers}).authorize(who)
}

func (d *Downloads) serve(w http.ResponseWriter, r *http.Request, identify func(*http.Request) (admit.Holder, error)) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "files are read-only", http.StatusMethodNotAllowed)
		return
	}
	holder, err := identify(r)
	if err != nil {
		refuseDownload(w, err)
		return
	}
	place, err := d.places.Take(holder, 1)
	if err != nil {
		h.Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer place.Release()
	file, info, err := d.open(strings.TrimPrefix(r.URL.Path, downloads))
	if err != nil {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	defer func() { _ = file.Close() }()
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano()))
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(&partWriter{w, d.within}, r, path.Base(r.URL.Path), info.ModTime(), file)
}

func refuseDownload(w http.ResponseWriter, err error) {
	if p, ok := errors.AsType[*problemError](err); ok {
		p.write(w)
		return
	}
	status := http.StatusBadRequest
	if refusal, ok := errors.AsType[*wfx.Refusal](err); ok {
		status = refusal.Status
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, err.Error(), status)
}

// open opens a regular file. Names that begin with a dot, folders, pipes and devices are not found: opening
// a pipe could block forever.
func (d *Downloads) open(name string) (*os.File, fs.FileInfo, error) {
	if !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return nil, nil, fs.ErrNotExist
	}
	if info, err := d.root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil, fs.ErrNotExist
	}
	file, err := d.root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// partWriter bounds the time for each part, not for the whole: files are large, and device links are slow.
type partWriter struct {
	http.ResponseWriter
	within time.Duration
}

func (p *partWriter) Write(text []byte) (int, error) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(p.within))
	return p.ResponseWriter.Write(text)
}

// ReadFrom hides the one of the response, which would not extend the deadline.
func (p *partWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{p}, r)
}

// Unwrap is for http.ResponseController.
func (p *partWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
