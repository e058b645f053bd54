package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// slowService answers when it is told to.
type slowService struct {
	*httptest.Server
	calls   atomic.Int32
	called  chan struct{} // gets one for each call
	answers chan struct{} // takes one for each answer
}

func newSlowService(t *testing.T) *slowService {
	s := &slowService{called: make(chan struct{}, 10), answers: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		s.called <- struct{}{}
		select {
		case <-s.answers:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"ok":true}`))
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// answer lets the service answer the call that it has.
func (s *slowService) answer(t *testing.T) {
	t.Helper()
	select {
	case s.answers <- struct{}{}:
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody waits for an answer")
	}
}

// start launches a server and starts an instance that calls the service.
func (s *slowService) start(t *testing.T, dir string) (*process, *client.Client) {
	t.Helper()
	p, err := launch(dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--outbound-allow", "127.0.0.1", "--log-level", "info")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	c, err := client.New(client.Options{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	text := strings.ReplaceAll(startedDefinition, "SERVICE", s.URL)
	if _, _, err := c.DeployDefinition(t.Context(), []byte(text), client.Deploy{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.StartInstance(t.Context(), "started", client.Start{Key: "k", Input: api.Data(`{"n":"1"}`)}); err != nil {
		t.Fatal(err)
	}
	return p, c
}

// TestStopWaitsForCallsInFlight: what was answered while the server stops is stored, and not
// asked for again.
func TestStopWaitsForCallsInFlight(t *testing.T) {
	s, dir := newSlowService(t), t.TempDir()
	p, c := s.start(t, dir)
	<-s.called
	stream := make(chan struct{})
	go func() { // a client that follows does not hold the server up
		defer close(stream)
		for _, err := range c.Stream(t.Context(), client.StreamQuery{Patience: time.Nanosecond}) {
			if err != nil {
				return
			}
		}
	}()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-stream // it ended, so the server is about to stop
	s.answer(t)
	if code, err := p.wait(); code != 0 || err != nil {
		t.Fatalf("the server ended with %d, %v:\n%s", code, err, p.stderr())
	}
	_, c = s.start(t, dir)
	<-s.called // the second state
	s.answer(t)
	page, err := c.ListInstances(t.Context(), client.InstanceQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 1 {
		t.Fatalf("%d instances are listed: %+v", len(page.Items), page)
	}
	in, err := c.GetInstance(t.Context(), page.Items[0].ID, time.Minute)
	if err != nil || in.Status != api.Completed {
		t.Errorf("%+v %v", in, err)
	}
	if n := s.calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	t.Log("SIGTERM with a call in flight and a stream: exit code 0, its answer stored, no call made twice")
}

// TestSecondSignalEndsAtOnce: who cannot wait does not have to.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	s := newSlowService(t)
	p, c := s.start(t, t.TempDir())
	<-s.called
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for c.Healthz(t.Context()) == nil { // until the first one took effect
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, _ := p.wait(); code != -1 { // ended by the signal
		t.Errorf("the server ended with %d:\n%s", code, p.stderr())
	}
}

// certificate CERT KEY makes a certificate for this machine.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	for file, block := range map[string]*pem.Block{args[0]: {Type: "CERTIFICATE", Bytes: cert}, args[1]: {Type: "PRIVATE KEY", Bytes: secret}} {
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs("."), file), pem.EncodeToMemory(block), 0o600))
	}
}
