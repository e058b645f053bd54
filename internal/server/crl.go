package server

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// CRL is what the revocation lists of a file say. They can be read again while the server runs.
type CRL struct {
	file, authorities string
	revoked           atomic.Pointer[map[revokedCertificate]bool]
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
	revoked := map[revokedCertificate]bool{}
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
		for _, entry := range list.RevokedCertificateEntries {
			revoked[revokedCertificate{string(list.RawIssuer), entry.SerialNumber.String()}] = true
		}
	}
	return func() { c.revoked.Store(&revoked) }, nil
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
	revoked := *c.revoked.Load()
	for _, cert := range chain {
		if revoked[revokedCertificate{string(cert.RawIssuer), cert.SerialNumber.String()}] {
			return true
		}
	}
	return false
}
