package server

import (
	"context"
	"fmt"
	"net/http"
	"path"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	maxRecording      = 10_000   // recording-records: of a run and its children
	maxRecordingBytes = 16 << 20 // recording-bytes: of their data
	maxRecordingRuns  = 50       // recording-instances: the run and its children
	recordingPage     = 1000
)

// getScenario writes a run as a scenario file, so that what happened once can be tested from then on.
func (s *Server) getScenario(w http.ResponseWriter, r *request) error {
	row, err := s.engine.Get(r.Context(), r.PathValue("instance"))
	if err != nil {
		return err
	}
	if !scenario.CanRecord(ViewInstance(&row)) {
		return problem(api.CodeNotAllowedNow, "the instance is "+string(row.Status)+"; a scenario is recorded of one that completed or failed")
	}
	rec := historyReader{s: s, ctx: r.Context(), records: maxRecording, bytes: maxRecordingBytes}
	if err := rec.add(&row); err != nil {
		return err
	}
	name, text := scenario.Recorded(rec.runs[0], rec.runs[1:])
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	return answerText(w, http.StatusOK, "application/yaml", text)
}

// historyReader reads the histories of an instance and of its children, within limits.
type historyReader struct {
	s              *Server
	ctx            context.Context
	runs           []scenario.Recording
	records, bytes int // that may still be read
}

func (r *historyReader) add(row *store.Instance) error {
	if len(r.runs) == maxRecordingRuns {
		return tooLongToRecord("recording-instances", maxRecordingRuns, "instances")
	}
	at := len(r.runs)
	run := scenario.Recording{Instance: ViewInstance(row)}
	if def, err := r.s.engine.Content(r.ctx, row.Definition, row.Digest); err == nil && def.Path != "" {
		run.File = path.Base(def.Path) // a definition that is gone has no file
	}
	r.runs = append(r.runs, run)
	for more, after := true, int64(0); more; after += recordingPage {
		part, err := r.s.engine.HistoryPage(r.ctx, row.ID, after, recordingPage)
		if err != nil {
			return err
		}
		for i := range part.Records {
			if err := r.record(at, part.First+int64(i), &part.Records[i]); err != nil {
				return err
			}
		}
		more = part.More
	}
	children, err := r.s.engine.Query(r.ctx, store.Query{Parent: row.ID, Limit: maxRecordingRuns + 1})
	if err != nil {
		return err
	}
	for i := range children {
		if err := r.add(&children[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *historyReader) record(run int, seq int64, rec *core.Record) error {
	v := ViewRecord(seq, rec)
	r.records--
	r.bytes -= len(v.Data)
	if r.records < 0 {
		return tooLongToRecord("recording-records", maxRecording, "records")
	}
	if r.bytes < 0 {
		return tooLongToRecord("recording-bytes", maxRecordingBytes, "bytes")
	}
	r.runs[run].Records = append(r.runs[run].Records, v)
	return nil
}

func tooLongToRecord(limit string, most int, what string) error {
	return problem(api.CodeTooLarge, fmt.Sprintf("the run has more than %d %s, too many for a scenario (limit %s)", most, what, limit))
}
