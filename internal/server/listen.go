package server

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Side is one of the two sides of a server.
type Side string

// The sides.
const (
	NorthSide Side = "north" // operators: everything
	SouthSide Side = "south" // devices: their jobs
)

// Listening is an address that a server listens on, and how it is protected.
type Listening struct {
	Side              Side        // NorthSide where empty
	Address           string      // host:port, unix:PATH, systemd:NAME or fd:N
	SocketMode        fs.FileMode // of a unix socket: who may connect; DefaultSocketMode where 0
	CertFile, KeyFile string      // TLS; both or none
	ClientCAFile      string      // clients must present a certificate of one of these authorities
	Tokens            bool        // the server requires tokens
	Insecure          bool        // listen on other than loopback addresses without protection
}

// DefaultSocketMode lets the user and the group of the server connect.
const DefaultSocketMode fs.FileMode = 0o660

// UnsafeError refuses an address at which other machines could reach an unprotected server.
type UnsafeError struct {
	Side    Side
	Address string
	Tokens  bool // there are tokens, but no TLS to keep them secret
}

func (e *UnsafeError) Error() string {
	switch {
	case e.Tokens:
		return fmt.Sprintf("%s can be reached from other machines, and without TLS tokens could be intercepted", e.Address)
	case e.Side == SouthSide:
		return fmt.Sprintf("%s can be reached from other machines, and devices are not authenticated: anyone could act for every device", e.Address)
	}
	return fmt.Sprintf("%s can be reached from other machines, and there are no tokens: anyone could do everything", e.Address)
}

// Listen opens a listener. An address other than loopback needs TLS and tokens (on the south, device
// certificates instead of tokens), or Insecure.
func Listen(l Listening) (net.Listener, error) {
	config, err := l.tls()
	if err != nil {
		return nil, err
	}
	listener, err := l.open()
	if err != nil {
		return nil, err
	}
	if config == nil {
		return listener, nil
	}
	t := &tlsListener{of: l}
	t.current.Store(config)
	outer := &tls.Config{
		NextProtos:         config.NextProtos, // net/http looks for h2 here
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.current.Load(), nil },
	}
	t.Listener = tls.NewListener(listener, outer)
	return t, nil
}

// tlsListener is a listener whose certificates can be replaced.
type tlsListener struct {
	net.Listener
	of      Listening
	current atomic.Pointer[tls.Config] // of new handshakes
}

// Reload reads the certificates of listeners again. The result uses them for new handshakes; connections that are
// open go on. If one cannot be used, all stay as they are. Listeners without TLS have nothing to reload.
func Reload(listeners ...net.Listener) (use func(), err error) {
	fresh := map[*tlsListener]*tls.Config{}
	for _, l := range listeners {
		if t, ok := l.(*tlsListener); ok {
			if fresh[t], err = t.of.tls(); err != nil {
				return nil, err
			}
		}
	}
	return func() {
		for t, config := range fresh {
			t.current.Store(config)
		}
	}, nil
}

// Check reports why Listen would fail, as far as that can be found out without taking the address: the
// server to be replaced may still use it.
func (l Listening) Check() error {
	if _, err := l.tls(); err != nil {
		return err
	}
	kind, rest := l.kind()
	switch kind {
	case "unix":
		return checkSocketPath(rest)
	case "systemd", "fd":
		_, err := inheritedFile(kind, rest)
		return err
	}
	if err := l.checkSafe(l.Address); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(l.Address)
	if err != nil {
		return notHostPort(l.Address, err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	return listener.Close()
}

// kind splits the address.
func (l Listening) kind() (kind, rest string) {
	for _, kind := range []string{"unix", "systemd", "fd"} {
		if rest, ok := strings.CutPrefix(l.Address, kind+":"); ok {
			return kind, rest
		}
	}
	return "tcp", l.Address
}

func (l Listening) open() (net.Listener, error) {
	kind, rest := l.kind()
	switch kind {
	case "unix":
		return l.openSocket(rest)
	case "systemd", "fd":
		listener, err := inherit(kind, rest)
		if err != nil {
			return nil, err
		}
		if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
			if err := l.checkSafe(tcp.String()); err != nil {
				_ = listener.Close()
				return nil, err
			}
		}
		return listener, nil
	}
	if err := l.checkSafe(l.Address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", l.Address)
}

// checkSafe refuses an address that other machines can reach if nothing protects the server.
func (l Listening) checkSafe(address string) error {
	known := l.Tokens || l.Side == SouthSide && l.ClientCAFile != ""
	if l.Insecure || known && l.CertFile != "" {
		return nil
	}
	local, err := loopback(address)
	if err != nil {
		return err
	}
	if !local {
		return &UnsafeError{l.Side, address, l.Tokens}
	}
	return nil
}

// tls reads the certificates; nil if there are none.
func (l Listening) tls() (*tls.Config, error) {
	if (l.CertFile == "") != (l.KeyFile == "") {
		return nil, errors.New("TLS needs both a certificate and its key")
	}
	if l.CertFile == "" {
		if l.ClientCAFile != "" {
			return nil, errors.New("client certificates need TLS: a certificate and a key of the server")
		}
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
	if _, missing := errors.AsType[*fs.PathError](err); missing { // it names the file
		return nil, fmt.Errorf("TLS: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("TLS: certificate %s with key %s: %w", l.CertFile, l.KeyFile, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if l.ClientCAFile != "" {
		text, err := os.ReadFile(l.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("TLS: %s has no certificate in PEM form", l.ClientCAFile)
		}
	}
	return config, nil
}

func checkSocketPath(path string) error {
	if path == "" {
		return errors.New("unix: needs a socket path")
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s already exists and is not a socket", path)
	}
	return nil
}

// openSocket listens on a unix socket. It replaces a socket that a killed server left behind, but not one
// that is in use.
func (l Listening) openSocket(path string) (net.Listener, error) {
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		listener, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, cmp.Or(l.SocketMode, DefaultSocketMode)); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return listener, nil
}

// abandoned reports whether no process listens on a socket any more.
func abandoned(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func notHostPort(address string, err error) error {
	return fmt.Errorf("the address %q is not host:port, unix:PATH, systemd:NAME or fd:N: %w", address, err)
}

// loopback reports whether a name resolves to loopback addresses only.
func loopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, notHostPort(address, err)
	}
	if host == "" {
		return false, nil // all addresses
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback(), nil
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return false, fmt.Errorf("find the address of %q: %w", host, err)
	}
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return false, nil
		}
	}
	return true, nil
}
