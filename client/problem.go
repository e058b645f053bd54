package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// Problem is what a server answers when it refuses (RFC 9457).
type Problem struct {
	Type     string         `json:"type"`
	Title    string         `json:"title"`
	Status   int            `json:"status"`
	Code     string         `json:"code"` // stable, for programs
	Detail   string         `json:"detail,omitempty"`
	Hint     string         `json:"hint,omitempty"`
	Instance string         `json:"instance,omitempty"` // the path of the request
	Limit    string         `json:"limit,omitempty"`    // the name of the limit that was reached
	Allowed  []string       `json:"allowed,omitempty"`  // what could be done instead
	Count    int            `json:"count,omitempty"`    // how many instances refer to it
	TraceID  string         `json:"traceId,omitempty"`
	Errors   []ProblemError `json:"errors,omitempty"`

	RetryAfter time.Duration `json:"-"`
	Body       []byte        `json:"-"` // of the wfx API: as it came
}

// ProblemError is one of several things that are wrong.
type ProblemError struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Severity  string `json:"severity,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
}

func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// UnreachableError says that no answer came from the server.
type UnreachableError struct {
	URL   string
	cause error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the server at %s cannot be reached: %v", e.URL, e.cause)
}
func (e *UnreachableError) Unwrap() error { return e.cause }

func unreachable(base string, err error) error {
	// The error of net/http repeats method and address; what happened is inside.
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return &UnreachableError{base, err}
}

// maxProblem is how much of an error's body is read; the rest says nothing new.
const maxProblem = 1 << 20

// readProblem reads an answer that is an error, also one that comes from elsewhere: a proxy.
func readProblem(resp *http.Response) *Problem {
	p := &Problem{}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || media != "application/problem+json" || json.Unmarshal(text, p) != nil {
		p = &Problem{
			Title:  http.StatusText(resp.StatusCode),
			Code:   "http-" + strconv.Itoa(resp.StatusCode),
			Detail: fmt.Sprintf("the server answered %s, and not as a Lockstep server does", resp.Status),
		}
	}
	p.Status = resp.StatusCode
	p.RetryAfter = retryAfter(resp)
	return p
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
