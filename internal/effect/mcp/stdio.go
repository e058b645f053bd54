package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/jsonrpc"
)

// stdioSession is a session with a program: each line is a message.
type stdioSession struct {
	process *exec.Process
	lines   *bufio.Reader
	ready   []jsonrpc.Message // that were read, and not yet returned
}

// markVariable tells the processes of a call from all others, so that those that left its group end with it, too.
const markVariable = "LOCKSTEP_SESSION"

// overStdio reads the transport {command, arguments, environment}. The program gets the environment that is
// given, and PATH. Its command line, which everybody on the machine can read, has no secret that holds knows.
func overStdio(transport expr.Value, holds func(expr.Value) bool) (where string, open func(context.Context) (session, error), err error) {
	name := effect.Name(transport, "command")
	if name == "" || strings.ContainsRune(name, 0) {
		return "", nil, errors.New("transport.stdio.command must be the name of a program")
	}
	command := exec.Command{Argv: []string{name}}
	given, _ := transport.Get("command")
	if holds(given) {
		return "", nil, errors.New("transport.stdio.command holds a secret, which lists of processes would show")
	}
	arguments, _ := transport.Get("arguments")
	if !arguments.IsNull() && !arguments.IsArray() {
		return "", nil, errors.New("transport.stdio.arguments must be an array, not " + arguments.Kind().WithArticle())
	}
	for i, a := range arguments.Items() {
		if a.Kind() != expr.KindString || strings.ContainsRune(a.Str(), 0) {
			return "", nil, fmt.Errorf("transport.stdio.arguments[%d] must be a text without the character U+0000", i)
		}
		if holds(a) {
			return "", nil, fmt.Errorf("transport.stdio.arguments[%d] holds a secret, which lists of processes would show; pass it by environment", i)
		}
		command.Argv = append(command.Argv, a.Str())
	}
	command.Env = append(command.Env, exec.Path()...)
	environment, _ := transport.Get("environment")
	if !environment.IsNull() && !environment.IsObject() {
		return "", nil, errors.New("transport.stdio.environment must be an object, not " + environment.Kind().WithArticle())
	}
	for _, m := range environment.Members() {
		if m.Key == "" || m.Key == markVariable || strings.ContainsAny(m.Key, "=\x00") || m.Value.Kind() != expr.KindString || strings.ContainsRune(m.Value.Str(), 0) {
			return "", nil, fmt.Errorf("transport.stdio.environment: %q must be the name of a variable, and its value a text without the character U+0000", m.Key)
		}
		command.Env = append(command.Env, m.Key+"="+m.Value.Str())
	}
	return fmt.Sprintf("program %q", name), func(ctx context.Context) (session, error) {
		command.Mark = markVariable + "=" + rand.Text()
		command.Env = append(command.Env, command.Mark)
		p, err := exec.Start(ctx, command)
		if err != nil {
			return nil, &effecthttp.Error{Code: effecthttp.CodeUnreachable, Msg: fmt.Sprintf("the program cannot be started: %v", err)}
		}
		return &stdioSession{process: p, lines: bufio.NewReader(p.Out)}, nil
	}, nil
}

func (s *stdioSession) call(_ context.Context, id int64, method string, params expr.Value, _ bool) (expr.Value, error) {
	if err := s.write(jsonrpc.Request(id, method, params)); err != nil {
		return expr.Null, err
	}
	return jsonrpc.Await(id, s.next, s.write)
}

func (s *stdioSession) begin(context.Context, string) error {
	return s.write(jsonrpc.Notification("notifications/initialized"))
}

// end closes what the program reads. What it wrote to stderr last may say why it failed.
func (s *stdioSession) end(ctx context.Context) string {
	r := s.process.Close(ctx)
	text := strings.ToValidUTF8(r.Stderr, "\ufffd")
	if r.Cut {
		_, text, _ = strings.Cut(text, "\n") // half a line may be half a secret
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func (s *stdioSession) write(text []byte) error {
	if _, err := s.process.In.Write(append(text, '\n')); err != nil {
		return errGone
	}
	return nil
}

// errGone is the error of a program that closed its input or output.
var errGone error = &effecthttp.Error{Code: effecthttp.CodeUnreachable, Msg: "the program ended before the answer"}

func (s *stdioSession) next() (jsonrpc.Message, error) {
	for len(s.ready) == 0 {
		line, err := s.lines.ReadBytes('\n')
		switch {
		case errors.Is(err, exec.ErrOutput):
			return jsonrpc.Message{}, &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: err.Error()}
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
			return jsonrpc.Message{}, errGone
		case err != nil:
			return jsonrpc.Message{}, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		if s.ready, err = jsonrpc.Parse(line); err != nil {
			return jsonrpc.Message{}, err
		}
	}
	m := s.ready[0]
	s.ready = s.ready[1:]
	return m, nil
}
