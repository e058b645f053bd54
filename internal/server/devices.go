package server

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"net/http"

	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// CertificateName is the part of a device's certificate that is the id of its client.
type CertificateName string

// The parts.
const (
	CommonName CertificateName = "cn"  // the only one of the subject
	DNSName    CertificateName = "dns" // the only one among the alternative names
	URIName    CertificateName = "uri" // the only one among the alternative names
)

// CertificateNames lists them.
var CertificateNames = []CertificateName{CommonName, DNSName, URIName}

// Devices says how requests to the south are authenticated. With neither field, they are not: a client may
// name itself in X-Client-Id.
type Devices struct {
	Tokens       *Tokens         // nil: none
	Certificates CertificateName // "": none
}

// Client returns the client that sends a request, and whether it may see only its own jobs. It is a
// Config.Client.
//
// A certificate takes precedence over a token. A device is restricted to its own jobs, and a header that
// says otherwise is refused. Operators may act for every client, or for the one in the header, as
// gateways do; roles that may read may read.
func (d Devices) Client(r *http.Request) (id string, restricted bool, err error) {
	if d.Tokens == nil && d.Certificates == "" {
		return wfx.HeaderClient(r)
	}
	if d.Certificates != "" {
		if id, err = d.byCertificate(r); err != nil {
			return "", false, err
		}
	}
	if d.Tokens != nil && (id == "" || len(r.Header.Values("Authorization")) > 0) {
		who, err := d.byToken(r)
		switch {
		case err != nil:
			return "", false, err
		case who.role != Device && id == "":
			return wfx.HeaderClient(r)
		case who.role == Device && id != "" && who.client != id:
			return "", false, &wfx.Refusal{Status: http.StatusForbidden, Message: "the token belongs to another client than the certificate"}
		case id == "":
			id = who.client
		}
	}
	claimed, claims, err := wfx.HeaderClient(r)
	if err != nil {
		return "", false, err
	}
	if claims && claimed != id {
		return "", false, &wfx.Refusal{Status: http.StatusForbidden, Message: "X-Client-Id differs from the client of the credential"}
	}
	return id, true, nil
}

// byToken returns the owner of the token, if its role is allowed on the south.
func (d Devices) byToken(r *http.Request) (identity, error) {
	who, err := d.Tokens.identify(r)
	if err != nil {
		if p, ok := errors.AsType[*problemError](err); ok {
			return identity{}, &wfx.Refusal{Status: p.Status, Message: p.Detail}
		}
		return identity{}, err
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch who.role {
	case Device, Operator, Admin:
		return who, nil
	case Viewer, Author:
		if reads {
			return who, nil
		}
	}
	return identity{}, &wfx.Refusal{Status: http.StatusForbidden, Message: "the role " + string(who.role) + " may not do this here; allowed are device, operator and admin"}
}

// byCertificate returns the client that the certificate names.
func (d Devices) byCertificate(r *http.Request) (string, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return "", &wfx.Refusal{Status: http.StatusUnauthorized, Message: "this server requires a device certificate"}
	}
	if id := d.Certificates.of(r.TLS.VerifiedChains[0][0]); id != "" {
		return id, nil
	}
	return "", &wfx.Refusal{Status: http.StatusForbidden, Message: "the certificate names no client, or more than one (" + string(d.Certificates) + ")"}
}

func (n CertificateName) of(cert *x509.Certificate) string {
	switch {
	case n == CommonName && commonNames(cert) == 1:
		return cert.Subject.CommonName
	case n == DNSName && len(cert.DNSNames) == 1:
		return cert.DNSNames[0]
	case n == URIName && len(cert.URIs) == 1:
		return cert.URIs[0].String()
	}
	return ""
}

// commonNames counts the common names of a certificate's subject: Subject.CommonName is only the last one.
func commonNames(cert *x509.Certificate) (n int) {
	for _, name := range cert.Subject.Names {
		if name.Type.Equal(commonName) {
			n++
		}
	}
	return n
}

// commonName is the type of a common name, X.520's id-at-commonName.
var commonName = asn1.ObjectIdentifier{2, 5, 4, 3}
