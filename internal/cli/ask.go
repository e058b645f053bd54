package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"
)

// workers is how many calls InParallel makes at a time.
const workers = 8

// asksPeople reports whether the input is a terminal.
func asksPeople(in io.Reader) bool {
	f, ok := in.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// readLine reads a line of input, until ctx ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		text string
		err  error
	}
	line := make(chan read, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		line <- read{text, err}
	}()
	select {
	case r := <-line:
		return r.text, r.err
	case <-ctx.Done(): // the blocked read is abandoned
		return "", ctx.Err()
	}
}

// Confirm shows how many things will change, and some of them, one a line. Unless yes is given, a user at the
// terminal must type the number; otherwise the error says that nothing was done.
func (a *App) Confirm(ctx context.Context, n int, noun, past string, line func(i int) string, yes bool) error {
	if !a.Problems {
		const samples = 5
		fmt.Fprintf(a.Stderr(), "%s will be %s:\n", Plural(n, noun), past)
		for i := range min(n, samples) {
			fmt.Fprintf(a.Stderr(), "  %s\n", Plain(line(i)))
		}
		if n > samples {
			fmt.Fprintf(a.Stderr(), "  … and %d more\n", n-samples)
		}
	}
	if yes {
		return nil
	}
	f := Usagef("%s would be %s; nothing was done", Plural(n, noun), past)
	f.Hint = "--yes skips the question"
	if !asksPeople(a.In) || a.Problems {
		return f
	}
	fmt.Fprintf(a.Stderr(), "type %d to continue: ", n)
	answer, err := readLine(ctx, a.In)
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != strconv.Itoa(n) {
		return f
	}
	return nil
}

// InParallel calls do for 0 to n-1, some at a time, until the first error, which it returns.
func InParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var running sync.WaitGroup
	for range min(workers, n) {
		running.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	running.Wait()
	return context.Cause(ctx)
}
