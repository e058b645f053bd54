package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Listening says where a server listens, and what protects it there.
type Listening struct {
	Address           string // host:port
	CertFile, KeyFile string // TLS; both or none
	Tokens            bool   // the server has tokens
	Insecure          bool   // listen on other than loopback addresses without either
}

// UnsafeError refuses to listen where others could reach an unprotected server.
type UnsafeError struct {
	Address string
	Tokens  bool // there are tokens: what lacks is TLS, under which they stay secret
}

func (e *UnsafeError) Error() string {
	if e.Tokens {
		return fmt.Sprintf("%s can be reached from other machines, and without TLS tokens could be read on the way", e.Address)
	}
	return fmt.Sprintf("%s can be reached from other machines, and there are no tokens: everybody could do everything", e.Address)
}

// Listen opens a listener. An address that is not this machine's own loopback needs
// tokens and TLS, or an explicit word that it is meant to go without.
func Listen(l Listening) (net.Listener, error) {
	if (l.CertFile == "") != (l.KeyFile == "") {
		return nil, errors.New("TLS needs both a certificate and its key")
	}
	secure := l.Tokens && l.CertFile != ""
	if !secure && !l.Insecure {
		local, err := loopback(l.Address)
		if err != nil {
			return nil, err
		}
		if !local {
			return nil, &UnsafeError{l.Address, l.Tokens}
		}
	}
	listener, err := net.Listen("tcp", l.Address)
	if err != nil || l.CertFile == "" {
		return listener, err
	}
	cert, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}), nil
}

// loopback reports whether every address that a name stands for is this machine's own.
func loopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, fmt.Errorf("the address %q is not host:port: %w", address, err)
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
