package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// jobWorkflow is what the jobs of load J are jobs of.
const jobWorkflow = `{"name": "bench", "states": [{"name": "NEW"}, {"name": "LOAD"}, {"name": "INSTALL"}, {"name": "DONE"}],
	"transitions": [{"from": "NEW", "to": "LOAD", "eligible": "CLIENT"}, {"from": "LOAD", "to": "INSTALL", "eligible": "CLIENT"},
	{"from": "INSTALL", "to": "DONE", "eligible": "CLIENT"}]}`

// serveJobs serves an engine on two ports of this machine, and returns a client of it.
func serveJobs(ctx context.Context, e *engine.Engine) (client *jobClient, stop func(), err error) {
	registry := dialect.NewRegistry(wfx.FrontEnd{})
	c, ds := registry.Compile("bench.json", []byte(jobWorkflow), nil, dialect.Options{})
	if c.Program == nil {
		return nil, nil, fmt.Errorf("workflow: %v", ds)
	}
	if err := e.Deploy(ctx, c.Program); err != nil {
		return nil, nil, err
	}
	north, south, stop, err := serve(ctx, e, registry)
	if err != nil {
		return nil, nil, err
	}
	return &jobClient{http: manyConnections(), sides: func() (string, string) { return "http://" + north, "http://" + south }}, stop, nil
}

// serve runs an engine, and serves it at two addresses of this machine.
func serve(ctx context.Context, e *engine.Engine, registry *dialect.Registry) (north, south string, stop func(), err error) {
	s, err := server.New(server.Config{Engine: e, Registry: registry})
	if err != nil {
		return "", "", nil, err
	}
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return "", "", nil, err
		}
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- s.ServeSides(running, server.Listeners{North: listeners[:1], South: listeners[1:]})
	}()
	return listeners[0].Addr().String(), listeners[1].Addr().String(), func() { cancel(); complain(<-ended) }, nil
}

// manyConnections is a client that keeps as many connections to a server as are in flight.
func manyConnections() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
}

// jobClient makes jobs over HTTP.
type jobClient struct {
	http  *http.Client
	sides func() (north, south string) // of the server that gets the next request
}

// send makes a request of the operators' side or of the devices'.
func (j *jobClient) send(ctx context.Context, method string, device bool, path string, body []byte, into any) error {
	at, south := j.sides()
	if device {
		at = south
	}
	r, err := http.NewRequestWithContext(ctx, method, at+"/api/wfx/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := j.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// one creates a job and updates its status four times, one request after the other.
func (j *jobClient) one(ctx context.Context, i int64) error {
	var job struct{ ID string }
	body := fmt.Appendf(nil, `{"clientId": "device-%d", "workflow": "bench", "tags": ["bench"], "definition": {"url": "https://example.com/firmware/%d.bin", "size": 1048576}}`, i, i)
	if err := j.send(ctx, http.MethodPost, false, "/jobs", body, &job); err != nil {
		return err
	}
	for _, status := range []string{`{"state": "LOAD"}`, `{"state": "LOAD", "progress": 50}`, `{"state": "INSTALL"}`, `{"state": "DONE"}`} {
		if err := j.send(ctx, http.MethodPut, true, "/jobs/"+job.ID+"/status", []byte(status), nil); err != nil {
			return err
		}
	}
	return nil
}
