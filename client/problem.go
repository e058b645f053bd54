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

	"github.com/lockstep-workflows/lockstep/api"
)

// Problem is an error that the server answered with.
type Problem struct {
	api.Problem
	RetryAfter time.Duration // how long the server asks to wait before the next attempt
	Body       []byte        // of the wfx API: the answer as it came
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

// maxProblem bounds how much of an error's body is read.
const maxProblem = 1 << 20

// readProblem reads an answer that is an error, also one that comes from a proxy.
func readProblem(resp *http.Response) *Problem {
	p := plainProblem(resp)
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var answer api.Problem
	if err != nil || media != "application/problem+json" || json.Unmarshal(text, &answer) != nil {
		p.Detail = fmt.Sprintf("the server answered %s, and not as a Lockstep server does", resp.Status)
		return p
	}
	p.Problem = answer
	p.Status = resp.StatusCode
	return p
}

// plainProblem is a problem of which only the status and headers of the answer are known.
func plainProblem(resp *http.Response) *Problem {
	return &Problem{
		Problem: api.Problem{
			Title: http.StatusText(resp.StatusCode), Status: resp.StatusCode,
			Code: api.Code("http-" + strconv.Itoa(resp.StatusCode)),
		},
		RetryAfter: retryAfter(resp),
	}
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
