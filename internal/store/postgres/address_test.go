package postgres

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

// TestPlainText: who connects to another machine without TLS is told, at the start.
func TestPlainText(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for address, warned := range map[string]bool{
		"postgres://u:secret@db.example.com/d":                               true, // prefer: plain text if the server has no TLS
		"postgres://u:secret@db.example.com/d?sslmode=disable":               true,
		"postgres://u:secret@db.example.com/d?sslmode=allow":                 true,
		"postgres://u:secret@192.0.2.1/d":                                    true,
		"postgres://u:secret@127.0.0.1,192.0.2.1/d":                          true,
		"postgres://u:secret@db.example.com/d?sslmode=require":               false,
		"postgres://u:secret@db.example.com/d?sslmode=verify-full":           false,
		"postgres://u:secret@127.0.0.1/d":                                    false,
		"postgres://u:secret@127.8.8.8/d":                                    false,
		"postgres://u:secret@localhost/d":                                    false,
		"postgres://u:secret@[::1]/d":                                        false,
		"postgres:///d?host=/run/postgresql&user=u&password=secret":          false,
		"postgres://u:secret@127.0.0.1,db.example.com/d?sslmode=verify-full": false,
	} {
		var told bytes.Buffer
		ended, cancel := context.WithCancel(ctx)
		cancel() // nothing is connected to
		if db, err := Open(ended, address, Options{Patience: 1, Log: slog.New(slog.NewTextHandler(&told, nil))}); err == nil {
			_ = db.Close()
			t.Errorf("%s is opened", address)
		}
		if got := strings.Contains(told.String(), "plain text"); got != warned || strings.Contains(told.String(), "secret") {
			t.Errorf("%s: %s", address, told.String())
		}
	}
}
