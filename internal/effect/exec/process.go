package exec

import (
	"context"
	"io"
	"os/exec"
	"time"
)

// Process is a command that runs while it is talked to. One goroutine at a time uses it.
type Process struct {
	In  io.WriteCloser
	Out io.Reader // after MaxOutput bytes its error is ErrOutput

	cmd    *exec.Cmd
	group  *group
	kill   func()
	unbind func() bool
	mark   string
	stderr tail
}

// Start starts a command; Stdin, Timeout and Limits of it mean nothing. It is killed, with what it started, when ctx
// ends. Close must be called.
func Start(ctx context.Context, c Command) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{cmd: exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...), kill: cancel, mark: c.Mark}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = c.Env, c.Dir, &p.stderr
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would be ours
	}
	p.cmd.WaitDelay = time.Second // for what it left behind with our pipes open
	in, err := p.cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	p.In, p.Out = in, &limitedReader{out, MaxOutput}
	p.group = newGroup()
	p.group.add(p.cmd)
	if err := p.cmd.Start(); err != nil {
		p.group.end(p.cmd)
		cancel()
		return nil, startError(c, err)
	}
	// What left the group may hold the other ends: reads and writes end here nevertheless.
	p.unbind = context.AfterFunc(ctx, func() {
		in.Close()
		out.Close()
	})
	return p, nil
}

// Close closes what the command reads, waits until it exits or ctx ends, and kills it then with what it started.
func (p *Process) Close(ctx context.Context) Result {
	p.In.Close()
	defer context.AfterFunc(ctx, p.kill)()
	_ = p.cmd.Wait() // the result says it all
	p.unbind()
	p.kill()
	p.group.end(p.cmd)
	endMarked(p.mark)
	return Result{Code: p.cmd.ProcessState.ExitCode(), Signal: signalOf(p.cmd.ProcessState), Stderr: p.stderr.String(), Cut: p.stderr.cut}
}

// limitedReader is a reader of at most so many bytes.
type limitedReader struct {
	io.Reader
	left int
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, ErrOutput
	}
	n, err := r.Reader.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
