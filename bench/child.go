package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// childVariable says that the process is a child of a measurement: ROLE.
const childVariable = "LOCKSTEP_BENCH_CHILD"

// order is what a child is to do.
type order struct {
	Role  string `json:"role"` // fill, serve, drive, bulk, subscribe
	Dir   string `json:"dir"`
	Count int    `json:"count"`
	What  string `json:"what"` // waiting, recover; to drive and subscribe: the address
}

// greeting is the first line of a child that serves: from here on it takes requests.
type greeting struct {
	Memory residence `json:"memory"`
	Calls  int       `json:"calls"` // in flight
}

// report is its second line.
type report struct {
	Cost   eventCost     `json:"cost"`
	Rate   float64       `json:"rate"`
	P50    time.Duration `json:"p50"`
	P99    time.Duration `json:"p99"`
	Memory residence     `json:"memory"`
}

// child does what the environment orders, if it does.
func child(ctx context.Context) (ordered bool, err error) {
	text := os.Getenv(childVariable)
	if text == "" {
		return false, nil
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return true, err
	}
	switch o.Role {
	case "fill":
		return true, o.fill(ctx)
	case "drive", "bulk":
		return true, o.drive(ctx)
	case "subscribe":
		return true, o.subscribe(ctx)
	}
	return true, o.serve(ctx)
}

// fill makes the instances and ends as if the power had gone.
func (o order) fill(ctx context.Context) error {
	db, err := openDatabase(o.Dir)
	if err != nil {
		return err
	}
	definitions := []string{forEvent, forTimer}
	if o.What == "recover" {
		definitions = append(definitions, forCall)
	}
	if err := fill(ctx, db.store, o.Count, definitions...); err != nil {
		return err
	}
	return dieNow()
}

func dieNow() error {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return err
	}
	select {} // the signal comes
}

// serve opens what is there, says when it is ready, and measures where that is wanted.
func (o order) serve(ctx context.Context) error {
	db, err := openDatabase(o.Dir)
	if err != nil {
		return err
	}
	defer db.Close()
	e, err := deployed(ctx, db.store, engine.Config{Invoker: effect.Func(never)})
	if err != nil {
		return err
	}
	if _, err := e.Poll(ctx); err != nil { // whatever there is to do
		return err
	}
	if _, err := e.Get(ctx, keyOf(0)); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(greeting{ownMemory(), e.InFlight()}); err != nil {
		return err
	}
	if o.What == "recover" {
		select {} // until it is killed
	}
	var r report
	if r.Cost, err = costOfEvents(ctx, db, e, o.Count); err != nil {
		return err
	}
	stop := started(ctx, e)
	f, err := rateOfEvents(ctx, e, o.Count, 10_000)
	stop()
	if err != nil {
		return err
	}
	r.Rate, r.P50, r.P99, r.Memory = f.rate(), f.p50, f.p99, ownMemory()
	return out.Encode(r)
}

// process is a child that serves.
type process struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	ready  time.Duration // from its start
	memory residence
	calls  int
}

func command(ctx context.Context, role, dir string, n int, what string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(order{role, dir, n, what})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// killed has a child do its work and end by SIGKILL.
func killed(ctx context.Context, role, dir string, n int, what string) error {
	cmd, err := command(ctx, role, dir, n, what)
	if err != nil {
		return err
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 && ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("the child was not killed: %v", err)
}

// spawn starts a child that serves and waits until it is ready.
func spawn(ctx context.Context, role, dir string, n int, what string) (*process, error) {
	cmd, err := command(ctx, role, dir, n, what)
	if err != nil {
		return nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, out: bufio.NewReader(pipe)}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the child did not become ready: %w", err), cmd.Wait())
	}
	p.ready = time.Since(began)
	var g greeting
	err = json.Unmarshal(line, &g)
	p.memory, p.calls = g.Memory, g.Calls
	return p, err
}

// result reads the second line and waits for the end.
func (p *process) result(r *report) error {
	text, err := io.ReadAll(p.out)
	if err := errors.Join(err, p.cmd.Wait()); err != nil {
		return err
	}
	return json.Unmarshal(text, r)
}

func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = p.cmd.Wait() // killed
	return nil
}
