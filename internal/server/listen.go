package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Side is one of the two faces of a server.
type Side string

// The sides.
const (
	NorthSide Side = "north" // operators: everything
	SouthSide Side = "south" // devices: their jobs
)

// Listening says where a server listens, and what protects it there.
type Listening struct {
	Side              Side        // NorthSide where empty
	Address           string      // host:port, unix:PATH, systemd:NAME or fd:N
	SocketMode        fs.FileMode // of a unix socket: who may connect; DefaultSocketMode where 0
	CertFile, KeyFile string      // TLS; both or none
	ClientCAFile      string      // whoever connects must show a certificate of one of these authorities
	Tokens            bool        // the server has tokens
	Insecure          bool        // listen on other than loopback addresses without protection
}

// DefaultSocketMode lets the user and the group of the server connect.
const DefaultSocketMode fs.FileMode = 0o660

// UnsafeError refuses to listen where others could reach an unprotected server.
type UnsafeError struct {
	Side    Side
	Address string
	Tokens  bool // there are tokens: what lacks is TLS, under which they stay secret
}

func (e *UnsafeError) Error() string {
	switch {
	case e.Tokens:
		return fmt.Sprintf("%s can be reached from other machines, and without TLS tokens could be read on the way", e.Address)
	case e.Side == SouthSide:
		return fmt.Sprintf("%s can be reached from other machines, and nothing tells devices apart: everybody could act for every device", e.Address)
	}
	return fmt.Sprintf("%s can be reached from other machines, and there are no tokens: everybody could do everything", e.Address)
}

// Listen opens a listener. An address that is not this machine's own loopback needs TLS
// and tokens (on the south, certificates of devices will do instead), or an explicit word
// that it is meant to go without.
func Listen(l Listening) (net.Listener, error) {
	config, err := l.tls()
	if err != nil {
		return nil, err
	}
	listener, err := l.open()
	if err != nil {
		return nil, err
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return listener, nil
}

// Check says what would keep Listen from working, as far as that can be seen without
// taking the address: whatever is to be replaced may still use it.
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

// kind takes the address apart.
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

// checkSafe refuses an address that others reach, where nothing protects the server.
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

// tls reads certificates; nil where there are none.
func (l Listening) tls() (*tls.Config, error) {
	if (l.CertFile == "") != (l.KeyFile == "") {
		return nil, errors.New("TLS needs both a certificate and its key")
	}
	if l.CertFile == "" {
		if l.ClientCAFile != "" {
			return nil, errors.New("certificates of clients need TLS: a certificate and a key of the server")
		}
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
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
		return errors.New("unix: needs the path of a socket")
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there already, and is no socket", path)
	}
	return nil
}

// openSocket listens on a unix socket. One that a killed server left behind is replaced;
// one that somebody listens on is not.
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
	mode := l.SocketMode
	if mode == 0 {
		mode = DefaultSocketMode
	}
	if err := os.Chmod(path, mode); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return listener, nil
}

// abandoned reports that nobody listens on a socket any more.
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

// loopback reports whether every address that a name stands for is this machine's own.
func loopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, notHostPort(address, err)
	}
	if host == "" {
		return false, nil // all of them
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
