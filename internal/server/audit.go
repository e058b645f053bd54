package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// The audit log has who changed what, and why: everything that people do, not what devices and programs do all the time
// (starts, events, updates of jobs by their devices). An entry is stored before the response begins. If that fails, the
// client learns that the change was made and is not in the log, which the server's own log then has.

// unaudited are the operations that change something and have no entry: too many, or without effect on others.
var unaudited = []string{"startInstance", "startInstances", "sendEvents", "playground"}

// isAudited reports whether a request to an operation has an entry.
func (rt *route) isAudited(r *http.Request) bool {
	return rt.method != http.MethodGet && !slices.Contains(unaudited, rt.operation) && r.URL.Query().Get("dry-run") != "true"
}

// jobAudited is isAudited for the wfx API on the north.
func jobAudited(op *wfx.Operation, r *http.Request) bool {
	return op != nil && r.Method != http.MethodGet && r.Method != http.MethodHead && (op.Access == wfx.Operate || op.Access == wfx.Author)
}

// deed is what an entry says of a request, as far as only its handler knows it.
type deed struct {
	who           string // if the request had no credential yet
	target        string // default the path of the instance, or of the request
	before, after string // digests, or key=value pairs: settings, a status, what was started
	reason        string
	none          bool // nothing was changed: no entry
}

// changed adds what one of several definitions was and is.
func (d *deed) changed(id, before, after string) {
	add := func(to *string, digest string) {
		if digest != "" {
			*to = strings.TrimPrefix(*to+" ", " ") + id + "=" + digest
		}
	}
	add(&d.before, before)
	add(&d.after, after)
}

// noteBefore notes the status of an instance before it is changed. Errors are those of the change.
func (s *Server) noteBefore(r *request, id string) {
	if row, err := s.engine.Get(r.Context(), id); err == nil {
		r.deed.before = statusOf(&row)
	}
}

func statusOf(row *store.Instance) string { return "status=" + string(row.Status) }

// entryDetail is what an entry has beside who, operation and target.
type entryDetail struct {
	Role    string `json:"role,omitempty"`
	Address string `json:"address"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Status  int    `json:"status"`
	Trace   string `json:"trace,omitempty"`
	Missed  int64  `json:"missed,omitempty"`
}

// failureEntries is how many entries a server adds for one credential in a minute ("audit-failures") that could fill the
// log: of requests that it refused, and of sessions. The next one says how many are missing. Requests without a valid
// credential count together, apart from all others.
const failureEntries = 60

// failures counts them by credential.
type failures struct {
	mu     sync.Mutex
	minute int64
	of     map[string]failureCount
}

type failureCount struct{ count, missed int64 }

// take reports whether there is room for another one, and how many were missed before it.
func (f *failures) take(who string, now time.Time) (ok bool, missed int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if minute := now.Unix() / 60; minute != f.minute || f.of == nil {
		f.minute = minute
		kept := map[string]failureCount{}
		for who, c := range f.of {
			if c.missed > 0 {
				kept[who] = failureCount{missed: c.missed}
			}
		}
		f.of = kept
	}
	c := f.of[who]
	ok = c.count < failureEntries
	if ok {
		c.count, missed, c.missed = c.count+1, c.missed, 0
	} else {
		c.missed++
	}
	f.of[who] = c
	return ok, missed
}

// isBounded reports whether an entry counts for failureEntries. Where the server failed, the change may have been made
// all the same: such an entry is always stored.
func isBounded(operation string, status int) bool {
	refused := status >= http.StatusBadRequest && status < http.StatusInternalServerError
	return refused || status < http.StatusBadRequest && (operation == "openSession" || operation == "closeSession")
}

// maxAuditText bounds a text of an entry, in bytes ("audit-text").
const maxAuditText = 4096

// auditText makes any text of a request one that can be stored.
func auditText(text string) string {
	text = strings.ReplaceAll(text[:min(len(text), maxAuditText)], "\x00", "")
	return strings.ToValidUTF8(text, "")
}

// audit has an entry stored when the response to a request begins.
func (s *Server) audit(w *recorder, r *http.Request, operation string, who identity, d *deed) {
	id := rand.Text()
	at, _ := trace.Parse(w.Header().Get(trace.Header))
	w.audit = func(status int) error {
		if d.none {
			return nil
		}
		name, target := who.name, d.target
		if d.who != "" {
			name = d.who
		}
		var missed int64
		if isBounded(operation, status) {
			ok := true
			if ok, missed = s.failures.take(name, time.Now()); !ok {
				return nil
			}
		}
		if target == "" {
			target = r.URL.Path
		}
		detail, err := json.Marshal(entryDetail{
			Role: string(who.role), Address: s.remote(r), Before: auditText(d.before), After: auditText(d.after), Reason: auditText(d.reason),
			Status: status, Trace: at.Trace.String(), Missed: missed,
		})
		if err != nil {
			return err
		}
		return s.appendEntry(r.Context(), store.Entry{ID: id, Who: name, Operation: operation, Target: auditText(target), Detail: string(detail)})
	}
}

// appendEntry stores an entry about a change that was made, even if the client is gone.
func (s *Server) appendEntry(ctx context.Context, entry store.Entry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.WriteTimeout/2)
	defer cancel()
	entry.At = core.TimeOf(s.cfg.Clock.Now())
	err := s.engine.AppendEntry(ctx, entry)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "an entry of the audit log is not stored", slog.Any("error", err), slog.String("who", entry.Who),
			slog.String("operation", entry.Operation), slog.String("target", entry.Target), slog.String("detail", entry.Detail))
	}
	return err
}

// unrecorded is the problem of a change whose entry is not stored.
func unrecorded() *problemError {
	p := problem(api.CodeUncertain, "the change was made, but its entry in the audit log could not be stored").
		hint("the log of the server has it; check the store")
	p.retry = 1
	return p
}

func (s *Server) listAudit(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	before, err := r.afterNumber('a')
	if err != nil {
		return err
	}
	list, err := s.engine.Entries(r.Context(), store.EntryQuery{
		Who: r.query.Get("who"), Operation: r.query.Get("operation"), Target: r.query.Get("target"), Before: before, Limit: limit,
	})
	if err != nil {
		return err
	}
	out := api.Page[api.AuditEntry]{Items: []api.AuditEntry{}}
	for _, e := range list {
		var d entryDetail
		if err := json.Unmarshal([]byte(e.Detail), &d); err != nil {
			return fmt.Errorf("%w: audit entry %d: %w", store.ErrDamaged, e.Seq, err)
		}
		out.Items = append(out.Items, api.AuditEntry{
			At: e.At.Std(), Who: e.Who, Role: d.Role, Address: d.Address, Operation: e.Operation, Target: e.Target, Before: d.Before, After: d.After,
			Reason: d.Reason, Status: d.Status, TraceID: d.Trace, Missed: d.Missed,
		})
	}
	if len(list) == limit {
		out.Next = cursor('a', itoa(list[len(list)-1].Seq))
	}
	return answer(w, http.StatusOK, out)
}
