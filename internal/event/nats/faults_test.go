package nats

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/lockstep-workflows/lockstep/event"
)

// TestBrokerRestarts: events come on, each at least once, over a restart of the broker.
func TestBrokerRestarts(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	const all = 200
	for i := range all {
		publish(t, js, fmt.Sprintf("in.%d", i%4), text(fmt.Sprint(i)))
	}
	var got seen
	half := make(chan struct{})
	again := make(chan struct{})
	var log logged
	run(t, b.source(b.address(), "", log.logger()), func(ctx context.Context, e event.Event) error {
		if e.ID == "100" {
			select {
			case <-half:
			default:
				close(half)
			}
			<-again
		}
		return got.ingest(ctx, e)
	})
	<-half
	b.stop()
	close(again)
	b.start()
	settled(t, js, "lockstep")
	ids := slices.Compact(slices.Sorted(slices.Values(got.list())))
	if len(ids) != all {
		t.Errorf("%d of %d events came", len(ids), all)
	}
	if !log.has("connected again") && !log.has("events do not come") {
		t.Error("the log tells nothing")
	}
}

// TestUnreachable: a broker that is not there is told with its address, and found once it is.
func TestUnreachable(t *testing.T) {
	b := newBroker(t, nil)
	js := b.stream("IN")
	publish(t, js, "in.a", text("1"))
	b.stop()
	var got seen
	var log logged
	run(t, b.source(b.address(), "", log.logger()), got.ingest)
	until(t, "it is told", func() bool { return log.has("cannot connect to nats://" + b.address()) })
	sink := b.sink(b.address(), "/IN?subject=in.{type}")
	err := sink.Send(t.Context(), sample("s", "1"))
	if err == nil || event.Refused(err) || !strings.Contains(err.Error(), "cannot connect to nats://"+b.address()) {
		t.Errorf("the sink says %v", err)
	}
	b.start()
	settled(t, js, "lockstep")
	if ids := got.list(); !slices.Equal(ids, []string{"1"}) {
		t.Errorf("came: %v", ids)
	}
	until(t, "the sink sends", func() bool { return sink.Send(t.Context(), sample("s", "1")) == nil })
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCredentials: wrong ones are told by where they are, never by what they are, and
// right ones are taken as soon as they are there.
func TestCredentials(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	wrong, _ := stranger.Seed()
	for name, c := range map[string]struct {
		change     func(*server.Options)
		mine       nats.Option
		parameters string
		bad, good  string // what the file holds
		says       string
	}{
		"password": {
			func(o *server.Options) { o.Username, o.Password = "ann", "open sesame" },
			nats.UserInfo("ann", "open sesame"), "?user=ann&password-file=", "guess", "open sesame\n", `refuses user \"ann\" with the password of`,
		},
		"token": {
			func(o *server.Options) { o.Authorization = "open sesame" },
			nats.Token("open sesame"), "?token-file=", "guess", "open sesame", "refuses the token of",
		},
		"nkey": {
			func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
			nats.Nkey(public, pair.Sign), "?nkey=", string(wrong), string(seed), "refuses the nkey of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t, c.change)
			js := b.stream("IN", c.mine)
			publish(t, js, "in.a", text("1"))
			file := write(t, "secret", c.bad)
			var got seen
			var log logged
			run(t, b.source(b.address(), c.parameters+file, log.logger()), got.ingest)
			until(t, "it is told", func() bool { return log.has(c.says + " " + file) })
			if log.has(c.bad) {
				t.Error("the log tells the secret")
			}
			if err := os.WriteFile(file, []byte(c.good), 0o600); err != nil {
				t.Fatal(err)
			}
			settled(t, js, "lockstep")
			if ids := got.list(); !slices.Equal(ids, []string{"1"}) {
				t.Errorf("came: %v", ids)
			}
		})
	}
}

// certificate makes one that signs itself, for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, text, text, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes})
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return write(t, "cert.pem", string(certPEM)), write(t, "key.pem", string(keyPEM)), pair
}

// TestTLS: both sides show certificates; without the authority of the broker's there is
// no connection.
func TestTLS(t *testing.T) {
	certFile, keyFile, pair := certificate(t)
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	b := newBroker(t, func(o *server.Options) {
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 60
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	})
	js := b.stream("IN", nats.Secure(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}))
	publish(t, js, "in.a", text("1"))
	var got seen
	var log logged
	run(t, b.source(b.address(), "?durable=stranger", log.logger()), got.ingest)
	until(t, "it is told", func() bool { return log.has("cannot connect") && log.has("certificate") })
	run(t, b.source(b.address(), "?ca="+certFile+"&cert="+certFile+"&key="+keyFile, nil), got.ingest)
	settled(t, js, "lockstep")
	if ids := got.list(); !slices.Equal(ids, []string{"1"}) {
		t.Errorf("came: %v", ids)
	}

	plain := newBroker(t, nil)
	var other logged
	run(t, plain.source(plain.address(), "?ca="+certFile, other.logger()), got.ingest)
	until(t, "it is told", func() bool { return other.has("offers no TLS") })
}

// TestNarrowPermissions: what docs/events.md says is enough, to make the consumer, to use
// it, and for a sink.
func TestNarrowPermissions(t *testing.T) {
	permit := func(publish ...string) *server.Permissions {
		return &server.Permissions{Publish: &server.SubjectPermission{Allow: publish}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}
	}
	b := newBroker(t, func(o *server.Options) {
		take := []string{"$JS.API.CONSUMER.INFO.IN.lockstep", "$JS.API.CONSUMER.MSG.NEXT.IN.lockstep", "$JS.ACK.IN.lockstep.>"}
		o.Users = []*server.User{
			{Username: "root", Password: "root"},
			{Username: "maker", Password: "x", Permissions: permit(append(take[:3:3], "$JS.API.CONSUMER.CREATE.IN.lockstep", "$JS.API.CONSUMER.CREATE.IN.lockstep.>")...)},
			{Username: "taker", Password: "x", Permissions: permit(take...)},
			{Username: "giver", Password: "x", Permissions: permit("in.out.>")},
		}
	})
	js := b.stream("IN", nats.UserInfo("root", "root"))
	file := write(t, "password", "x")
	var got seen
	for i, user := range []string{"maker", "taker"} {
		publish(t, js, "in.a", text(user))
		stop := run(t, b.source(b.address(), "?subject=in.a&user="+user+"&password-file="+file, nil), got.ingest)
		until(t, user+" takes", func() bool { return len(got.list()) == i+1 })
		stop()
	}
	if err := b.sink(b.address(), "/IN?subject=in.out.{type}&user=giver&password-file="+file).Send(t.Context(), sample("s", "1")); err != nil {
		t.Error(err)
	}
}
