package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// device is an attacker who has a job to do.
type device struct {
	s    *target
	http *http.Client
	job  string
}

func newDevice(s *target) *device {
	d := &device{s: s, http: attackerHTTP("127.0.0.2")}
	s.t.Cleanup(d.http.CloseIdleConnections)
	status, answer, err := send(s.t.Context(), d.http, "POST", s.node.URL+"/api/wfx/v1/jobs", s.admin, []byte(`{"clientId": "mallory", "workflow": "chores"}`))
	var job struct{ ID string }
	if err != nil || status != 201 || json.Unmarshal(answer, &job) != nil {
		s.t.Fatalf("POST /jobs: %d %s %v", status, answer, err)
	}
	d.job = job.ID
	return d
}

func (d *device) url(path string) string { return d.s.node.Devices + "/api/wfx/v1" + path }

// attacks lists what the device does, each again and again.
func (d *device) attacks() map[string]func(context.Context, int) {
	return map[string]func(context.Context, int){
		"filters that fork":   d.filters(`def f: f,f; f`),
		"filters that gather": d.filters(`[range(1e9)] | length`),
		"slow readers":        d.readers,
		"slow bodies":         d.bodies,
		"streams":             d.streams,
	}
}

func (d *device) filters(filter string) func(context.Context, int) {
	return func(ctx context.Context, _ int) {
		each(50, func(int) {
			_, _, _ = send(ctx, d.http, "GET", d.url("/jobs?limit=1"), d.s.mallory, nil, "X-Response-Filter", filter)
		})
	}
}

// readers makes the device's own answers large, and asks for them without reading.
func (d *device) readers(ctx context.Context, round int) {
	if round == 0 {
		for range 4 {
			body := fmt.Appendf(nil, `{"state": "BUSY", "context": {"x": %q}}`, strings.Repeat("x", 900_000))
			_, _, _ = send(ctx, d.http, "PUT", d.url("/jobs/"+d.job+"/status"), d.s.mallory, body)
		}
	}
	request := fmt.Sprintf("GET /api/wfx/v1/jobs/%s?history=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", d.job, d.s.mallory)
	each(300, func(int) { hold(ctx, "127.0.0.2", d.s.node.Devices, request) })
}

// bodies sends bodies that do not end, with a credential.
func (d *device) bodies(ctx context.Context, _ int) {
	each(300, func(int) {
		hold(ctx, "127.0.0.2", d.s.node.Devices, unfinished("PUT", "/api/wfx/v1/jobs/"+d.job+"/status", "Authorization: Bearer "+d.s.mallory+"\r\n"))
	})
}

// streams opens many streams.
func (d *device) streams(ctx context.Context, _ int) {
	request := fmt.Sprintf("GET /api/wfx/v1/jobs/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", d.s.mallory)
	each(500, func(int) { hold(ctx, "127.0.0.2", d.s.node.Devices, request) })
}
