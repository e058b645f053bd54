package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// maxTags is how many tags a job may have ("job-tags").
	maxTags = 256
	// maxTagBytes is how long one of them may be ("job-tag-bytes").
	maxTagBytes = 256
	// maxClientBytes is how long the id of a client may be ("job-client-bytes").
	maxClientBytes = 256
)

// JobRequest asks for a new job.
type JobRequest struct {
	Workflow, Client string
	Tags             []string   // duplicates are folded
	Definition       expr.Value // what the job is about; Null: nothing
	ID               string     // empty: a new random UUID
	Key              string     // of CreateJobs, as in StartOnce: the ID is that of the key, if not empty
}

// once gives a request with a key the ID that belongs to it.
func (r JobRequest) once() JobRequest {
	if r.Key != "" {
		sum := sha256.Sum256([]byte("jobs\x00" + r.Key + "\x00" + r.Workflow + "\x00" + r.Client))
		r.ID = uuidOf([16]byte(sum[:16]), 8) // version 8: custom
	}
	return r
}

// start is the request as it is compared with the one that created a job under the same key.
func (r JobRequest) start() StartRequest {
	return StartRequest{Definition: r.Workflow, ID: r.ID, Input: jobInput(r.Client, r.Tags, r.Definition), key: r.Key}
}

// Job is an instance of a state machine that actors advance. Created and Updated of the
// instance are what wfx calls stime and mtime, its Definition is the workflow's name. Only
// lists are sure to tell its Seq.
type Job struct {
	store.Instance
	Status  expr.Value // {"state": …, …}
	Content expr.Value // the job's definition; Null: it has none
}

// Tags are the job's tags, sorted.
func (j *Job) Tags() []string { return tagsOf(j.Labels) }

func tagsOf(labels expr.Value) []string {
	list, _ := labels.Get(jobdata.Tags)
	out := make([]string, 0, list.Len())
	for _, tag := range list.Items() {
		out = append(out, tag.Str())
	}
	return tidy(out)
}

// tidy sorts tags and folds duplicates.
func tidy(tags []string) []string {
	slices.Sort(tags)
	return slices.Compact(tags)
}

// jobInput is what a job is started with, also one that another instance starts.
func jobInput(client string, tags []string, definition expr.Value) expr.Value {
	out := expr.Object(
		expr.Member{Key: jobdata.Client, Value: expr.String(client)},
		expr.Member{Key: jobdata.Status, Value: expr.Object(expr.Member{Key: jobdata.Client, Value: expr.String(client)})})
	if !definition.IsNull() {
		out = out.With(jobdata.Definition, definition)
	}
	if len(tags) > 0 {
		out = out.With(jobdata.Tags, texts(tidy(slices.Clone(tags))))
	}
	return out
}

func texts(list []string) expr.Value {
	out := make([]expr.Value, len(list))
	for i, s := range list {
		out[i] = expr.String(s)
	}
	return expr.Array(out...)
}

// CreateJob creates a job, which comes at once to the first state that it waits in. It
// fails with *NotFoundError (of a "workflow"), *IDError, *InputError, *PausedError, *QuotaError or *ExistsError where
// the request cannot be met.
func (e *Engine) CreateJob(ctx context.Context, r JobRequest) (job Job, err error) {
	for try := range maxConflicts {
		if job, err = e.createJob(ctx, r, try > 0); !e.outdated(ctx, err) {
			break
		}
	}
	return job, err
}

func (e *Engine) createJob(ctx context.Context, r JobRequest, read bool) (Job, error) {
	input := jobInput(r.Client, r.Tags, r.Definition)
	d, deployed, err := e.findFor(ctx, r.Workflow, "", read, func(d *definition) error {
		if err := e.startable(d.row.ID); err != nil {
			return err
		}
		return e.checkJob(d, &r, input)
	})
	if err != nil {
		return Job{}, noWorkflow(err, r.Workflow)
	}
	if err := e.checkQuota(d.row.ID); err != nil {
		return Job{}, err
	}
	if r.ID == "" {
		r.ID = e.idHere(e.newJobID)
	}
	row := newRow(d, r.ID, e.now())
	row.Job, row.Trace = jobOf(d.prog, input, store.Job{}), traceFrom(ctx)
	var a ask
	if _, err := e.create(ctx, d, deployed, row, core.Start{Data: input}, &a); err != nil {
		return Job{}, err
	}
	return a.job, a.err
}

// newJobID is a random UUID, unless ids are made otherwise.
func (e *Engine) newJobID() string {
	if e.givenIDs {
		return e.cfg.NewID()
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return uuidOf(b, 4)
}

// keyedJobID is the id of a job that is started under a key: a UUID, the same each time.
func keyedJobID(workflow, key string) string {
	sum := sha256.Sum256([]byte(deriveID(keyed, "job", workflow, key)))
	return uuidOf([16]byte(sum[:16]), 8) // version 8: custom
}

// uuidOf writes bytes as a UUID of a version. Clients of wfx expect the ids of jobs to be such.
func uuidOf(b [16]byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// jobFor finds what a request is for, and what a job is to start with.
func (e *Engine) jobFor(ctx context.Context, r JobRequest) (*definition, expr.Value, error) {
	input := jobInput(r.Client, r.Tags, r.Definition)
	d, err := e.find(ctx, r.Workflow, "")
	if err == nil {
		err = e.checkJob(d, &r, input)
	}
	return d, input, noWorkflow(err, r.Workflow)
}

// noWorkflow names what is missing as its caller does.
func noWorkflow(err error, workflow string) error {
	if isMissing(err) {
		return &NotFoundError{Kind: "workflow", ID: workflow}
	}
	return err
}

// checkJob says why a request for a job cannot be met that is to start with the input.
func (e *Engine) checkJob(d *definition, r *JobRequest, input expr.Value) error {
	switch {
	case !d.prog.Job:
		return &NotFoundError{Kind: "workflow", ID: r.Workflow}
	case r.ID != "" && !validID(r.ID):
		return &IDError{r.ID}
	}
	if err := guard(func() error { return checkInput(d, input) }); err != nil {
		return err
	}
	refuse := func(pointer, message string) error {
		return &InputError{Definition: r.Workflow, Violations: []Violation{{pointer, message}}, Input: input}
	}
	if len(r.Client) > maxClientBytes {
		return refuse("/"+jobdata.Client, fmt.Sprintf("the id of a client has at most %d bytes (limit job-client-bytes)", maxClientBytes))
	}
	if strings.ContainsFunc(r.Client, unicode.IsControl) { // no header or certificate could ever name it
		return refuse("/"+jobdata.Client, fmt.Sprintf("the id of a client has no control characters; %.100q has", r.Client))
	}
	if why := badTags(tidy(slices.Clone(r.Tags))); why != "" {
		return refuse("/"+jobdata.Tags, why)
	}
	if err := checkNumbers(r.Workflow, "/"+jobdata.Definition, r.Definition); err != nil {
		return err
	}
	if why, err := e.tooMuch(d, input); why != "" || err != nil {
		if err == nil {
			err = refuse("/"+jobdata.Definition, why)
		}
		return err
	}
	return nil
}

func badTags(tags []string) string {
	if len(tags) > maxTags {
		return fmt.Sprintf("a job has at most %d tags (limit job-tags)", maxTags)
	}
	for _, tag := range tags {
		if len(tag) > maxTagBytes {
			return fmt.Sprintf("a tag has at most %d bytes, %.20q… has %d (limit job-tag-bytes)", maxTagBytes, tag, len(tag))
		}
	}
	return ""
}
