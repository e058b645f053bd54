package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// page is a part of a list.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next,omitempty"`

	limit, room int // items, and bytes that are left
}

func (s *Server) newPage(limit int) *page {
	return &page{Items: []json.RawMessage{}, limit: limit, room: s.limits.PageBytes}
}

// add puts an item on the page, if there is room: for one there always is. The caller
// sets Next where there is none.
func (p *page) add(item any) (fits bool, err error) {
	if len(p.Items) == p.limit {
		return false, nil
	}
	text, err := encode(item)
	if err != nil {
		return false, err
	}
	if p.room -= len(text); p.room < 0 && len(p.Items) > 0 {
		return false, nil
	}
	p.Items = append(p.Items, bytes.TrimSuffix(text, []byte("\n")))
	return true, nil
}

// parts is the page as JSON, in which every item is there once, as it was written.
func (p *page) parts() ([][]byte, error) {
	out := make([][]byte, 0, 2*len(p.Items)+1)
	separator := []byte(`{"items":[`)
	for i, item := range p.Items {
		out = append(out, separator, item)
		p.Items[i], separator = nil, []byte(",")
	}
	end := []byte("]}\n")
	if len(out) == 0 {
		end = []byte(`{"items":[]}` + "\n")
	}
	if p.Next != "" {
		next, err := encode(p.Next)
		if err != nil {
			return nil, err
		}
		end = append(append(bytes.TrimSuffix(end, []byte("}\n")), `,"next":`...), append(bytes.TrimSuffix(next, []byte("\n")), "}\n"...)...)
	}
	return append(out, end), nil
}

type definitionView struct {
	ID          string           `json:"id"`
	Version     string           `json:"version"`
	Name        string           `json:"name,omitempty"`
	Dialect     string           `json:"dialect"`
	Digest      string           `json:"digest"`
	Deployed    *time.Time       `json:"deployed,omitempty"`
	Current     bool             `json:"current"`
	Diagnostics []diagnosticView `json:"diagnostics"`
}

type diagnosticView struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func viewDefinition(row store.Definition) definitionView {
	v := definitionView{
		ID: row.ID, Version: row.Version, Name: row.Name, Dialect: row.Dialect, Digest: row.Digest,
		Deployed: timeOf(row.Deployed), Current: row.Current, Diagnostics: []diagnosticView{},
	}
	if row.Diagnostics != nil { // written by viewDiagnostics
		_ = json.Unmarshal(row.Diagnostics, &v.Diagnostics)
	}
	return v
}

// viewDeployed is viewDefinition, and tells where a definition is set aside.
func (s *Server) viewDeployed(row store.Definition) definitionView {
	v := viewDefinition(row)
	if e := s.engine.Unloadable(row.Digest); e != nil {
		v.Diagnostics = append(v.Diagnostics, diagnosticView{Severity: string(dialect.Error), Code: dialect.CodePrograms, Message: e.Error()})
	}
	return v
}

// documentName stands for the definition in diagnostics; it is not told.
const documentName = "definition"

func viewDiagnostics(ds dialect.Diagnostics) []diagnosticView {
	out := []diagnosticView{}
	for _, d := range ds {
		if d.File == documentName {
			d.File = ""
		}
		out = append(out, diagnosticView{d.File, d.Line, d.Column, string(d.Severity), d.Code, d.Message, d.Hint})
	}
	return out
}

type definitionRef struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

type instanceView struct {
	ID         string        `json:"id"`
	Definition definitionRef `json:"definition"`
	Status     core.Status   `json:"status"`
	State      string        `json:"state,omitempty"`
	States     []string      `json:"states,omitempty"`
	Created    time.Time     `json:"created"`
	Updated    time.Time     `json:"updated"`
	Ended      *time.Time    `json:"ended,omitempty"`
	Wake       *time.Time    `json:"wake,omitempty"`
	Rev        int64         `json:"rev"`
	Output     *expr.Value   `json:"output,omitempty"`
	Error      *faultView    `json:"error,omitempty"`
	Tags       expr.Value    `json:"tags"`
	Parent     string        `json:"parent,omitempty"`
	RestartOf  string        `json:"restartOf,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Quarantine string        `json:"quarantine,omitempty"`
	Allowed    []string      `json:"allowed"`
	Job        *jobView      `json:"job,omitempty"`
}

func viewInstance(row *store.Instance) instanceView {
	v := instanceView{
		ID: row.ID, Definition: definitionRef{row.Definition, row.Version, row.Digest},
		Status: row.Status, States: row.Active, Created: row.Created.Std(), Updated: row.Updated.Std(), Rev: row.Rev,
		Error: viewFault(row.Fault), Tags: row.Labels, Parent: row.Parent, RestartOf: row.RestartOf,
		Reason: row.PauseReason, Quarantine: row.Quarantine, Allowed: allowed(row), Job: viewJob(row),
	}
	if len(row.Active) > 0 {
		v.State = row.Active[0]
	}
	if !v.Tags.IsObject() {
		v.Tags = expr.EmptyObject
	}
	if row.Status.Final() {
		v.Ended = timeOf(row.Ended)
	}
	if row.HasWake {
		v.Wake = timeOf(row.Wake)
	}
	if row.Status == core.Completed {
		output := row.Output
		v.Output = &output
	}
	return v
}

// viewBrief is an instance in a list: without what may be large.
func viewBrief(row *store.Instance) instanceView {
	v := viewInstance(row)
	v.Output = nil
	if v.Error != nil {
		brief := *v.Error
		brief.Data, brief.Args, brief.State, brief.Cut = nil, nil, nil, nil
		v.Error = &brief
	}
	return v
}

// allowed lists what can be done with an instance now. Whether a failed state can be
// skipped only its definition tells.
func allowed(row *store.Instance) []string {
	switch {
	case row.Quarantine != "":
		return []string{"resume", "terminate", "restart"}
	case row.Status == core.Failed:
		return []string{"retry", "skip", "restart", "delete"}
	case row.Status.Final():
		return []string{"restart", "delete"}
	case row.Status == core.Paused:
		return []string{"resume", "cancel", "terminate", "restart"}
	}
	return []string{"pause", "cancel", "terminate", "restart"}
}

type placeView struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func viewPlace(p ir.Pos) *placeView {
	if p.Line == 0 {
		return nil
	}
	return &placeView{p.Line, p.Column}
}

type faultView struct {
	Name   string      `json:"name"`
	Code   string      `json:"code,omitempty"`
	Status string      `json:"status,omitempty"`
	Title  string      `json:"title,omitempty"`
	Type   string      `json:"type,omitempty"`
	Detail string      `json:"detail,omitempty"`
	Node   string      `json:"node,omitempty"`
	Place  *placeView  `json:"place,omitempty"`
	Data   *expr.Value `json:"data,omitempty"`
	Args   *expr.Value `json:"args,omitempty"`
	State  *expr.Value `json:"state,omitempty"`
	Cut    []string    `json:"cut,omitempty"`
	Trail  []hopView   `json:"trail,omitempty"`
}

type hopView struct {
	Workflow string     `json:"workflow"`
	Node     string     `json:"node,omitempty"`
	Place    *placeView `json:"place,omitempty"`
}

func viewFault(f *core.Fault) *faultView {
	if f == nil {
		return nil
	}
	v := &faultView{
		Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type, Detail: f.Detail, Node: f.Node,
		Place: viewPlace(f.Pos), Data: unlessNull(f.Data), Args: unlessNull(f.Args), State: unlessNull(f.State), Cut: f.Cut,
	}
	for _, hop := range f.Trail {
		v.Trail = append(v.Trail, hopView{hop.Workflow, hop.Node, viewPlace(hop.Pos)})
	}
	return v
}

func unlessNull(v expr.Value) *expr.Value {
	if v.IsNull() {
		return nil
	}
	return &v
}

type recordView struct {
	Seq     int64       `json:"seq,omitempty"`
	Time    time.Time   `json:"time"`
	Type    string      `json:"type"`
	Node    string      `json:"node,omitempty"`
	Place   *placeView  `json:"place,omitempty"`
	Depth   int         `json:"depth,omitempty"`
	Frame   uint32      `json:"frame,omitempty"`
	Name    string      `json:"name,omitempty"`
	Ticket  string      `json:"ticket,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	At      *time.Time  `json:"at,omitempty"`
	Data    *expr.Value `json:"data,omitempty"`
	Error   *faultView  `json:"error,omitempty"`
	Text    string      `json:"text,omitempty"`
	Status  string      `json:"status,omitempty"`
}

func viewRecord(seq int64, r *core.Record) recordView {
	v := recordView{
		Seq: seq, Time: r.Time.Std(), Type: string(r.Type), Node: r.Node, Place: viewPlace(r.Pos), Depth: r.Depth,
		Frame: uint32(r.Frame), Name: verbOf(r), Attempt: r.Attempt, At: timeOf(r.At), Error: viewFault(r.Fault),
		Text: r.Text, Status: string(r.Status),
	}
	if r.Ticket != 0 {
		v.Ticket = r.Ticket.String()
	}
	if r.HasData {
		data := r.Data
		v.Data = &data
	}
	return v
}

// timeOf is an instant, nil where there is none.
func timeOf(t core.Time) *time.Time {
	if t == 0 {
		return nil
	}
	at := t.Std()
	return &at
}

// encode writes JSON as people and other programs expect it: no HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: write JSON: %w", errInternal, err)
	}
	return b.Bytes(), nil
}

// answer writes an answer of JSON.
func answer(w http.ResponseWriter, status int, v any) error {
	if p, ok := v.(*page); ok {
		parts, err := p.parts()
		if err != nil {
			return err
		}
		return answerParts(w, status, "application/json", parts)
	}
	text, err := encode(v)
	if err != nil {
		return err
	}
	return answerText(w, status, "application/json", text)
}

// answerText writes an answer that is not to be kept: the next one may differ.
func answerText(w http.ResponseWriter, status int, media string, text []byte) error {
	return answerParts(w, status, media, [][]byte{text})
}

// answerParts writes an answer whose text is in several parts. Each is let go once it is
// sent.
func answerParts(w http.ResponseWriter, status int, media string, parts [][]byte) error {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	if err := reserve(w, n); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", media)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Length", itoa(int64(n)))
	w.WriteHeader(status)
	for i, part := range parts {
		if _, err := w.Write(part); err != nil {
			return nil // a client that left needs no other answer
		}
		parts[i] = nil
	}
	return nil
}

// answerInstance writes an instance with its revision.
func answerInstance(w http.ResponseWriter, status int, row *store.Instance) error {
	w.Header().Set("ETag", `"`+itoa(row.Rev)+`"`)
	return answer(w, status, viewInstance(row))
}
