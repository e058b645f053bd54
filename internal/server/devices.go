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

// Devices says how it is known which client sends a request to the south. Where there is
// neither of both, nothing is known: a client says who it is in X-Client-Id, or not.
type Devices struct {
	Tokens       *Tokens         // nil: none
	Certificates CertificateName // "": none
}

// Client is who sends a request, and whether it may see only its own jobs. It is for
// Config.Client.
//
// A certificate decides, and after it a token. A device is held to its own jobs, and a
// header that says otherwise is refused. Operators may act for every client, or for the
// one in the header, as gateways do; those who read may read.
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
			return "", false, &wfx.Refusal{Status: http.StatusForbidden, Message: "the token is that of another client than the certificate"}
		case id == "":
			id = who.client
		}
	}
	claimed, claims, err := wfx.HeaderClient(r)
	if err != nil {
		return "", false, err
	}
	if claims && claimed != id {
		return "", false, &wfx.Refusal{Status: http.StatusForbidden, Message: "X-Client-Id is another client than the credential's"}
	}
	return id, true, nil
}

// byToken is who sent the token, if that one may do anything on the south.
func (d Devices) byToken(r *http.Request) (identity, error) {
	who, err := d.Tokens.identify(r)
	if err != nil {
		var p *Problem
		if errors.As(err, &p) {
			return identity{}, &wfx.Refusal{Status: http.StatusUnauthorized, Message: p.Detail}
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
	return identity{}, &wfx.Refusal{Status: http.StatusForbidden, Message: "the role " + string(who.role) + " may not do this here; it takes device, operator or admin"}
}

// byCertificate is the client that the certificate names.
func (d Devices) byCertificate(r *http.Request) (string, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return "", &wfx.Refusal{Status: http.StatusUnauthorized, Message: "this server needs a certificate of the device"}
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

// commonNames counts those of a certificate's subject: Subject.CommonName is the last one.
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
