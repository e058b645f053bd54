package server

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// CRL is what the revocation lists of a file say. They can be read again while the server runs.
type CRL struct {
	file, authorities string
	said              atomic.Pointer[revokedCertificates]
}

var _ RevocationList = (*CRL)(nil)

// revokedCertificates is what the lists say.
type revokedCertificates struct {
	has  map[revokedCertificate]bool
	next time.Time // the first nextUpdate of a list; zero: none has one
}

type revokedCertificate struct{ issuer, serial string }

// NewCRL reads the revocation lists of a file, in PEM or DER form. Each must be signed by one of the authorities, a
// file of certificates.
func NewCRL(file, authorities string) (*CRL, error) {
	c := &CRL{file: file, authorities: authorities}
	use, err := c.Read()
	if err != nil {
		return nil, err
	}
	use()
	return c, nil
}

// Read reads the file again; use makes the server use what it says.
func (c *CRL) Read() (use func(), err error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil, fmt.Errorf("revocation list: %w", err)
	}
	issuers, err := readCertificates(c.authorities)
	if err != nil {
		return nil, err
	}
	said := revokedCertificates{has: map[revokedCertificate]bool{}}
	lists := [][]byte{}
	for rest := text; bytes.Contains(rest, []byte("-----BEGIN")); {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "X509 CRL" {
			lists = append(lists, block.Bytes)
		}
	}
	if len(lists) == 0 {
		lists = append(lists, text)
	}
	for _, der := range lists {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return nil, fmt.Errorf("revocation list %s: it is neither PEM (X509 CRL) nor DER: %w", c.file, err)
		}
		if err := signedByOne(list, issuers); err != nil {
			return nil, fmt.Errorf("revocation list %s: %w", c.file, err)
		}
		if next := list.NextUpdate; !next.IsZero() && (said.next.IsZero() || next.Before(said.next)) {
			said.next = next
		}
		for _, entry := range list.RevokedCertificateEntries {
			said.has[revokedCertificate{string(list.RawIssuer), entry.SerialNumber.String()}] = true
		}
	}
	return func() { c.said.Store(&said) }, nil
}

func readCertificates(file string) (out []*x509.Certificate, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("revocation list: %w", err)
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return out, nil
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = append(out, cert)
		}
	}
}

// signedByOne refuses a list that nobody signed who may.
func signedByOne(list *x509.RevocationList, issuers []*x509.Certificate) error {
	for _, issuer := range issuers {
		if bytes.Equal(issuer.RawSubject, list.RawIssuer) && list.CheckSignatureFrom(issuer) == nil {
			return nil
		}
	}
	return errors.New("none of the authorities of device certificates signed it")
}

// Revokes reports whether a certificate of a chain was revoked by the one after it.
func (c *CRL) Revokes(chain []*x509.Certificate) bool {
	revoked := c.said.Load().has
	for _, cert := range chain {
		if revoked[revokedCertificate{string(cert.RawIssuer), cert.SerialNumber.String()}] {
			return true
		}
	}
	return false
}

// NextUpdate is when the first of the lists says that a newer one is due.
func (c *CRL) NextUpdate() time.Time { return c.said.Load().next }

// crlWarning is how often the log is told of a list that is older than it may be.
const crlWarning = time.Hour

// warnOfCRL tells the log if a newer list of revoked certificates was due. The old one stays in force: refusing every
// device because a file was not renewed would do more harm than what a newer list might add.
func (s *Server) warnOfCRL() {
	if s.cfg.CRL == nil {
		return
	}
	next, now := s.cfg.CRL.NextUpdate(), s.cfg.Clock.Now()
	last := s.crlWarned.Load()
	if next.IsZero() || now.Before(next) || now.Unix()-last < int64(crlWarning/time.Second) || !s.crlWarned.CompareAndSwap(last, now.Unix()) {
		return
	}
	s.log.Warn("the revocation list of device certificates is out of date; it stays in force", "nextUpdate", next.UTC().Format(time.RFC3339))
}

// writeCRL writes when a newer list is due.
func (s *Server) writeCRL(x *exposition) {
	if s.cfg.CRL == nil {
		return
	}
	if next := s.cfg.CRL.NextUpdate(); !next.IsZero() {
		x.gauge("lockstep_crl_next_update_seconds", "When a newer revocation list of device certificates is due, in Unix seconds.", next.Unix())
	}
}
