package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// typed is an answer, or an error.
type typed struct {
	text string
	err  error
}

// errLongAnswer is the error of an answer that is too long.
var errLongAnswer = fmt.Errorf("the answer has more than %d bytes (limit document-bytes)", dialect.DefaultLimits.Bytes)

// newStepper reads answers from in, in the background: the end of a run must not wait for them.
func newStepper(ctx context.Context, in io.Reader, out io.Writer) *stepper {
	answers := make(chan typed)
	go func() {
		defer close(answers)
		r := bufio.NewReader(in)
		for {
			text, err := readAnswer(r, dialect.DefaultLimits.Bytes)
			if errors.Is(err, io.EOF) && text == "" {
				return
			}
			if errors.Is(err, io.EOF) {
				err = nil // the last line has no end
			}
			select {
			case answers <- typed{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLongAnswer) {
				return
			}
		}
	}()
	return &stepper{out: out, answers: answers}
}

// readAnswer reads a line of at most limit bytes. A longer one is skipped.
func readAnswer(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return "", errLongAnswer
		}
		return string(line), err
	}
}

// ask reads an answer. At the end of the input, the run continues without questions.
func (p *stepper) ask(ctx context.Context) (string, error) {
	select {
	case status := <-p.gone:
		return p.end(status)
	default: // an answer that has arrived already is for the next question
	}
	select {
	case status := <-p.gone:
		return p.end(status)
	case a, open := <-p.answers:
		if !open {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			fmt.Fprintln(p.out)
			return "c", nil
		}
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// end ends the line of a cancelled question.
func (p *stepper) end(status core.Status) (string, error) {
	fmt.Fprintln(p.out)
	return "", &goneError{status}
}

// read parses data that the user typed, as strictly as --input.
func (p *stepper) read(text string) (expr.Value, bool) {
	if text = strings.TrimSpace(text); text == "" {
		fmt.Fprintln(p.out, "  the data is unchanged: give JSON, as in = {\"amount\": 3}")
		return expr.Null, false
	}
	doc, found := dialect.Read("data.json", []byte(text))
	if !found.HasErrors() {
		return doc.Root.Value(), true
	}
	fmt.Fprintln(p.out, "  the data is unchanged:")
	for _, d := range cli.Renamed(found, "data.json", "=") {
		// If stderr cannot be written there is no way to report it.
		_ = cli.Render(p.out, doc, d)
	}
	return expr.Null, false
}

func (p *stepper) show(data expr.Value) {
	var b bytes.Buffer
	if json.Indent(&b, data.AppendJSON(nil), "", "  ") == nil {
		for line := range strings.Lines(b.String()) {
			fmt.Fprintf(p.out, "  %s\n", cli.Plain(strings.TrimSuffix(line, "\n")))
		}
	}
}
