package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
)

// function is the function that loads call: the node itself answers at once.
const function = "functions:\n  f: {builtin: echo}\n"

const catalogue = "functions.yaml"

// nodesFigure is the result of a load on some nodes.
type nodesFigure struct {
	figure
	cpu   cpuTimes
	work  databaseWork // per workflow
	waits waits
}

// reportNodes prints every load on every number of nodes, each with new tables.
func reportNodes(ctx context.Context, o options) error {
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	program, err := prepare(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d cores; CPU in seconds\n", runtime.NumCPU())
	fmt.Printf("%-8s%10s%7s%12s%10s%10s%8s%8s%11s%10s%9s%9s%8s%11s%13s%11s\n",
		"load", "in flight", "nodes", "per second", "p50", "p99", "ratio", "target", "CPU: nodes", "postgres", "client", "others", "cores", "commits/s", "rows/commit", "WAL bytes")
	for _, l := range o.loads {
		for _, flight := range o.inFlight {
			first := 0.0
			for _, n := range o.nodes {
				f, err := nodesRun{options: o, dir: dir, program: program, load: l, nodes: n, flight: flight}.measure(ctx)
				if err != nil {
					return fmt.Errorf("%s on %d nodes: %w", l.name, n, err)
				}
				if first == 0 {
					first = f.rate()
				}
				f.print(l.name, flight, n, first)
			}
		}
	}
	return nil
}

// prepare creates what nodes need in a folder: the program, and the catalogue of functions.
func prepare(dir string) (program string, err error) {
	if err := os.WriteFile(filepath.Join(dir, catalogue), []byte(function), 0o600); err != nil {
		return "", err
	}
	return nodetest.Build(dir)
}

func (f nodesFigure) print(name string, flight, nodes int, first float64) {
	fmt.Printf("%-8s%10d%7d%12.0f%10s%10s%8.2f%8.2f%11s%10s%9s%9s%8.2f%11.0f%13.1f%11.0f\n", name, flight, nodes, f.rate(), short(f.p50), short(f.p99), f.rate()/first, nodesTarget(nodes),
		seconds(f.cpu.nodes), seconds(f.cpu.postgres), seconds(f.cpu.client), seconds(f.cpu.others()), f.cpu.machine.Seconds()/f.took.Seconds(),
		f.work.commits*f.rate(), f.work.rows/max(f.work.commits, 1e-9), f.work.wal)
	fmt.Printf("%-8s%s\n", "", f.waits)
}

// nodesRun is one load on some nodes.
type nodesRun struct {
	options
	dir, program string
	load         load
	nodes        int
	flight       int
}

// measure starts the nodes, warms them up, and measures.
func (r nodesRun) measure(ctx context.Context) (f nodesFigure, err error) {
	w, err := watch(ctx, r.store)
	if err != nil {
		return f, err
	}
	defer w.close()
	address, drop, err := ownSchema(w.conn, r.store)
	if err != nil {
		return f, err
	}
	defer drop()
	nodes, kill, err := r.start(ctx, address)
	if err != nil {
		return f, err
	}
	defer kill()
	one, err := r.deploy(ctx, nodes)
	if err != nil {
		return f, err
	}
	before, err := w.work(ctx)
	if err != nil {
		return f, err
	}
	warm, err := closedLoop(ctx, r.flight, r.time/4, one)
	if err != nil {
		return f, err
	}
	wal, err := w.wal(ctx)
	if err != nil {
		return f, err
	}
	stopSampling := w.sample(ctx)
	cpu := w.cpu(nodes)
	if f.figure, err = closedLoop(ctx, r.flight, r.time, one); err != nil {
		return f, err
	}
	f.cpu = w.cpu(nodes).minus(cpu)
	f.waits = stopSampling()
	end, err := w.wal(ctx)
	if err != nil {
		return f, err
	}
	// Sessions report their statistics only now and then, and when they end, so stop the nodes first.
	if err := stopAll(ctx, nodes); err != nil {
		return f, err
	}
	f.work, err = w.workSince(ctx, before, warm.count+f.count)
	f.work.wal = float64(end-wal) / float64(f.count)
	return f, err
}

func stopAll(ctx context.Context, nodes []*nodetest.Node) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, n := range nodes {
		if err := n.Stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ownSchema returns the address of a new schema, and a function that drops it.
func ownSchema(c *pgx.Conn, address string) (own string, drop func(), err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprint("bench_", time.Now().UnixNano())
	q := u.Query()
	q.Set("schema", name)
	u.RawQuery = q.Encode()
	return u.String(), func() {
		_, err := c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+name+" CASCADE")
		complain(err)
	}, nil
}

// patience is how long nodes may take to share the work, to do one workflow, and to end.
const patience = time.Minute

// until polls until a condition holds, for at most patience.
func until(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if ok, err := holds(ctx); ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
	}
}

// start starts the nodes and waits until they share the work.
func (r nodesRun) start(ctx context.Context, address string) (nodes []*nodetest.Node, kill func(), err error) {
	kill = func() {
		for _, n := range nodes {
			n.Kill()
		}
	}
	via := manyConnections()
	for i := range r.nodes {
		dir, err := os.MkdirTemp(r.dir, "node-")
		if err != nil {
			kill()
			return nil, nil, err
		}
		n, err := nodetest.Start(nodetest.Config{
			Program: r.program, Dir: dir, Name: fmt.Sprint("n", i), Store: address, HTTP: via, Args: []string{"--functions", filepath.Join(r.dir, catalogue)},
		})
		if err != nil {
			kill()
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	err = until(ctx, "nodes share the work", func(ctx context.Context) (bool, error) { return nodetest.Shared(ctx, nodes[0].API, r.nodes), nil })
	if err != nil {
		kill()
		return nil, nil, fmt.Errorf("%w\n%s", err, nodes[0].Log())
	}
	return nodes, kill, nil
}

// deploy deploys the load and returns a function that runs it once. Every request goes to the next node.
func (r nodesRun) deploy(ctx context.Context, nodes []*nodetest.Node) (one func(context.Context, int64) error, err error) {
	var turn atomic.Int64
	next := func() *nodetest.Node { return nodes[int(turn.Add(1))%len(nodes)] }
	if r.load.jobs {
		j := &jobClient{http: manyConnections(), sides: func() (string, string) { n := next(); return n.URL, n.Devices }}
		return j.one, j.send(ctx, http.MethodPost, false, "/workflows", []byte(jobWorkflow), nil)
	}
	d, _, err := nodes[0].API.DeployDefinition(ctx, []byte(r.load.definition), client.Deploy{})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, i int64) error {
		key := fmt.Sprintf("%s-%d-%d", d.ID, time.Now().UnixNano(), i)
		start := client.Start{Key: key, Input: api.Data(fmt.Sprintf(`{"key":%q}`, key))}
		if r.load.waitsFor {
			return startAndWake(ctx, next, d.ID, start)
		}
		start.Wait = patience
		return over(next().API.StartInstance(ctx, d.ID, start))
	}, nil
}

// startAndWake starts an instance, sends the event that it waits for, and waits for its end.
func startAndWake(ctx context.Context, next func() *nodetest.Node, definition string, start client.Start) error {
	in, err := next().API.StartInstance(ctx, definition, start)
	if err != nil {
		return err
	}
	ev := fmt.Sprintf(`{"specversion":"1.0","type":"go","source":"bench","id":%q,"key":%q}`, start.Key, start.Key)
	if _, err := next().API.SendEvents(ctx, api.Data(ev)); err != nil {
		return err
	}
	return over(next().API.GetInstance(ctx, in.ID, patience))
}

// over returns an error unless an instance completed.
func over(in api.Instance, err error) error {
	if err == nil && in.Status != api.Completed {
		err = fmt.Errorf("instance %s is %s: %+v", in.ID, in.Status, in.Error)
	}
	return err
}
