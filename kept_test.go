package lockstep_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// What testdata/kept.db.gz holds. A server of an earlier version wrote it, and was killed: an order whose
// approval is a child that pauses for a second, another approval that does, a claim that waits for a reply,
// half of the events that start a claim, three jobs, and the keys that made them.
const (
	keptOrder    = "key:k3hbvmj8oh73huv5b00ttlvrrv"       // key "first", input {"order":"o1"}
	keptApproval = "key:lb08p82vjphcusbf9hlvvjtfrr"       // key "second", input {"order":"o2"}
	keptClaim    = "events:vtn6s7fua3ig03g1aiiie5dv9f"    // of claim c1; the form of claim c2 is kept
	keptJob      = "1d41eeab-5c1d-46d1-a5d8-7f321e2cbcb4" // of client gate, in state INSTALLING
)

// TestStoreOfEarlierVersion: this version goes on where an earlier one stopped.
func TestStoreOfEarlierVersion(t *testing.T) {
	e := opened(t, "sqlite:"+unpacked(t, "testdata/kept.db.gz"),
		lockstep.Func("ask", func(context.Context, any) (any, error) { return nil, errors.New("it was asked before") }))
	ctx := t.Context()

	for _, id := range []string{keptOrder, keptApproval} {
		if in, err := e.Wait(ctx, id); err != nil || in.Status != "completed" {
			t.Error(id, in.Status, err)
		}
	}

	sent := func(id, kind, claim string) (started []string) {
		t.Helper()
		data := expr.Object(expr.Member{Key: "claim", Value: expr.String(claim)})
		result, err := e.Send(ctx, event.Event{ID: id, Source: "kept", Type: kind, Data: data, HasData: true})
		if err != nil {
			t.Fatal(err)
		}
		return result.Started
	}
	if started := sent("p1", "photo", "c1"); len(started) > 0 {
		t.Error("an event that the earlier version took is taken again:", started)
	}
	started := sent("p2", "photo", "c2")
	if len(started) != 1 {
		t.Fatal("the form of claim c2 is lost:", started)
	}
	sent("r1", "reply", "c1")
	sent("r2", "reply", "c2")
	for _, id := range []string{keptClaim, started[0]} {
		if in, err := e.Wait(ctx, id); err != nil || in.Status != "completed" {
			t.Error(id, in.Status, err)
		}
	}

	type order struct {
		Order string `json:"order"`
	}
	if id, err := e.Start(ctx, "order", order{"o1"}, lockstep.Key("first")); err != nil || id != keptOrder {
		t.Error("the key of an earlier version gives", id, err)
	}
	var refused *lockstep.Error
	if _, err := e.Start(ctx, "order", order{"o2"}, lockstep.Key("first")); !errors.As(err, &refused) || refused.Code != api.CodeKeyReused {
		t.Error("the key of an earlier version with another input:", err)
	}
	fleet := api.JobsRequest{Workflow: "install", Clients: []string{"a", "b"}, Definition: []byte(`{"release":8}`)}
	if made, err := e.Client().CreateJobs(ctx, fleet, "fleet"); err != nil || made.Created != 0 || made.Items[0].ID == "" {
		t.Error("jobs are made a second time:", made, err)
	}

	jobs, err := client.NewJobs(client.JobsOptions{Options: client.Options{URL: newServer(t, e.DeviceHandler())}})
	if err != nil {
		t.Fatal(err)
	}
	defer jobs.Close()
	job, err := jobs.GetJob(ctx, keptJob, true)
	if err != nil || job.ClientID != "gate" || job.Status.State != "INSTALLING" || *job.Status.Progress != 40 ||
		string(job.Definition) != `{"release":7}` || len(job.Tags) != 1 || len(job.History) != 1 {
		t.Fatalf("%+v %v", job, err)
	}
	if status, err := jobs.UpdateStatus(ctx, keptJob, api.JobStatus{ClientID: "gate", State: "INSTALLED"}); err != nil || status.State != "INSTALLED" {
		t.Error(status, err)
	}
}

// unpacked is a copy of a compressed file.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kept.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
