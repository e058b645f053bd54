package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority makes certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its own certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	a.key = a.newKey()
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.write(a.file, "CERTIFICATE", der)
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *authority) write(file, kind string, der []byte) {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// issue makes a certificate and its key, as files.
func (a *authority) issue(change func(*x509.Certificate)) (cert, key string) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	change(template)
	secret := a.newKey()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &secret.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		a.t.Fatal(err)
	}
	dir := a.t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.write(cert, "CERTIFICATE", der)
	a.write(key, "PRIVATE KEY", pkcs)
	return cert, key
}

// client is one that shows a certificate; none where change is nil.
func (a *authority) client(trusts string, h2 bool, change func(*x509.Certificate)) *http.Client {
	a.t.Helper()
	config := &tls.Config{RootCAs: pool(a.t, trusts)}
	if change != nil {
		pair, err := tls.LoadX509KeyPair(a.issue(change))
		if err != nil {
			a.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: h2}
	a.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func localhost(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} }

func named(cn string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: cn} }
}

// subject has several common names.
func subject(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		for _, name := range names {
			c.Subject.ExtraNames = append(c.Subject.ExtraNames, pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: name})
		}
	}
}

// TestCertificatesOfDevices: a device is who its certificate says.
func TestCertificatesOfDevices(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	cert, key := ca.issue(localhost)
	l := Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key, ClientCAFile: ca.file}
	f := newFleet(t, l, Devices{Certificates: CommonName}, nil)
	f.fill("")
	for _, h2 := range []bool{false, true} {
		dana := ca.client(ca.file, h2, named("dana"))
		for _, whose := range []string{"dana", "eve"} {
			for _, op := range southOperations(f.jobs[whose]) {
				want := op.own
				if whose == "eve" {
					want = op.foreign
				}
				a := f.ask(dana, f.south, op.method, op.path, op.body)
				if a.status != want || (a.proto == 2) != h2 {
					t.Errorf("%s %s of %s over HTTP/%d: %d %s, want %d", op.method, op.path, whose, a.proto, a.status, a.text, want)
				}
			}
		}
		if a := f.ask(dana, f.south, "GET", "/api/wfx/v1/jobs", "", "X-Client-Id", "eve"); a.status != 403 {
			t.Errorf("dana who says that she is eve: %d %s", a.status, a.text)
		}
		if a := f.ask(ca.client(ca.file, h2, named("")), f.south, "GET", "/api/wfx/v1/jobs", ""); a.status != 403 || !strings.Contains(a.text, "names no client") {
			t.Errorf("nobody: %d %s", a.status, a.text)
		}
		followsItsJobs(f, dana)
	}
	for what, c := range map[string]*http.Client{
		"no certificate":         ca.client(ca.file, false, nil),
		"a stranger's authority": stranger.client(ca.file, false, named("dana")),
		"an old certificate": ca.client(ca.file, false, func(c *x509.Certificate) {
			c.Subject, c.NotAfter = pkix.Name{CommonName: "dana"}, time.Now().Add(-time.Minute)
		}),
		"one of a server": ca.client(ca.file, false, func(c *x509.Certificate) {
			c.Subject, c.ExtKeyUsage = pkix.Name{CommonName: "dana"}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}),
	} {
		if a, err := c.Get(f.south + "/api/wfx/v1/jobs"); err == nil {
			_ = a.Body.Close()
			t.Errorf("%s: %d", what, a.StatusCode)
		}
	}
}

// followsItsJobs: the stream of a device tells of its own jobs only, over any protocol.
func followsItsJobs(f *fleet, c *http.Client) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", f.south+"/api/wfx/v1/jobs/events", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	a, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	for _, client := range []string{"eve", "dana"} {
		if a := f.ask(http.DefaultClient, f.world.url, "PUT", "/api/wfx/v1/jobs/"+f.jobs[client]+"/status", `{"state":"NEW"}`); a.status != 200 {
			f.t.Fatalf("update: %d %s", a.status, a.text)
		}
	}
	lines := bufio.NewScanner(a.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if !strings.Contains(text, "dana") || strings.Contains(text, "eve") {
				f.t.Errorf("dana is told %s", text)
			}
			return
		}
	}
	f.t.Errorf("the stream ended: %v", lines.Err())
}

// TestNamesInCertificates: which part of it is the client's id.
func TestNamesInCertificates(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(localhost)
	uri := func(texts ...string) (out []*url.URL) {
		for _, text := range texts {
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, u)
		}
		return out
	}
	for _, c := range []struct {
		part   CertificateName
		change func(*x509.Certificate)
		want   int
	}{
		{CommonName, named("dana"), 200},
		{CommonName, subject("eve", "dana"), 403},
		{CommonName, subject("dana", "dana"), 403},
		{CommonName, func(c *x509.Certificate) { c.DNSNames = []string{"dana"} }, 403},
		{DNSName, func(c *x509.Certificate) { c.DNSNames = []string{"dana"} }, 200},
		{DNSName, func(c *x509.Certificate) { c.DNSNames = []string{"eve"} }, 404},
		{DNSName, func(c *x509.Certificate) { c.DNSNames = []string{"dana", "eve"} }, 403},
		{DNSName, named("dana"), 403},
		{URIName, func(c *x509.Certificate) { c.URIs = uri("dana") }, 200},
		{URIName, func(c *x509.Certificate) { c.URIs = uri("urn:dana", "urn:eve") }, 403},
		{URIName, named("dana"), 403},
	} {
		f := newFleet(t, Listening{Address: "127.0.0.1:0", CertFile: cert, KeyFile: key, ClientCAFile: ca.file}, Devices{Certificates: c.part}, nil)
		f.fill("")
		if a := f.ask(ca.client(ca.file, true, c.change), f.south, "GET", "/api/wfx/v1/jobs/"+f.jobs["dana"], ""); a.status != c.want {
			t.Errorf("%s: %d %s, want %d", c.part, a.status, a.text, c.want)
		}
	}
}

// TestCertificateAndToken: where there are both, they must agree.
func TestCertificateAndToken(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(localhost)
	token := map[string]string{}
	var lines string
	for _, name := range []string{"dana", "eve"} {
		secret, hash := NewToken()
		token[name] = secret
		lines += fmt.Sprintf("{name: %s, role: device, client: %s, hash: %q}\n", name, name, hash)
	}
	admin, hash := NewToken()
	tokens, err := ParseTokens([]byte(lines + fmt.Sprintf("{name: a, role: admin, hash: %q}\n", hash)))
	if err != nil {
		t.Fatal(err)
	}
	l := Listening{Address: "0.0.0.0:0", CertFile: cert, KeyFile: key, ClientCAFile: ca.file, Tokens: true}
	f := newFleet(t, l, Devices{Certificates: CommonName, Tokens: tokens}, nil)
	f.fill(admin)
	_, port, _ := strings.Cut(f.south, "]:")
	f.south = "https://127.0.0.1:" + port
	dana := ca.client(ca.file, true, named("dana"))
	for bearer, want := range map[string]int{"": 200, token["dana"]: 200, token["eve"]: 403, "ls_wrong": 401, admin: 200} {
		if a := f.ask(dana, f.south, "GET", "/api/wfx/v1/jobs/"+f.jobs["dana"], "", "Authorization", "Bearer "+bearer); a.status != want {
			t.Errorf("with the token %q: %d %s, want %d", bearer, a.status, a.text, want)
		}
	}
	if a := f.ask(dana, f.south, "GET", "/api/wfx/v1/jobs/"+f.jobs["eve"], "", "Authorization", "Bearer "+admin); a.status != 404 {
		t.Errorf("the certificate decides: %d %s", a.status, a.text)
	}
}
