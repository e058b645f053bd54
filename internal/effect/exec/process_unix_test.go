//go:build unix

package exec

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBackgroundChildOutlivesNoProcess: what a process started ends with it.
func TestBackgroundChildOutlivesNoProcess(t *testing.T) {
	address := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, err := Start(t.Context(), command("leave", address))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if r := p.Close(t.Context()); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("the child lives on: %v", err)
	}
}

// TestProcessEndsWithItsContext: reads end, and it is killed; so does one that does not exit by itself in time.
func TestProcessEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, command("wait"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(p.Out); err == nil {
		t.Log("the output ended") // or it was closed before
	}
	if r := p.Close(t.Context()); r.Signal != "SIGKILL" {
		t.Errorf("%+v", r)
	}
	if p, err = Start(t.Context(), command("wait")); err != nil {
		t.Fatal(err)
	}
	if r := p.Close(ctx); r.Signal != "SIGKILL" {
		t.Errorf("%+v", r)
	}
}

// TestProcessOutputIsLimited: reading stops at exec-output-bytes.
func TestProcessOutputIsLimited(t *testing.T) {
	p, err := Start(t.Context(), command("flood"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(p.Out)
	if len(text) != MaxOutput || err != ErrOutput {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p.Close(over)
}
