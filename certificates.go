package lockstep

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/server"
)

// DeviceCertificates lets [Engine.DeviceHandler] take the id of a device from its client
// certificate: "cn", "dns" or "uri".
func DeviceCertificates(name string) Option {
	return func(c *config) error {
		c.certificates = server.CertificateName(name)
		if !slices.Contains(server.CertificateNames, c.certificates) {
			return &OptionError{"DeviceCertificates", fmt.Errorf("%q is not one of cn, dns and uri", name)}
		}
		return nil
	}
}

// RevocationList says which certificates of devices were revoked.
type RevocationList interface {
	// Revokes gets the chain from a certificate to its authority.
	Revokes(chain []*x509.Certificate) bool
	// NextUpdate is when a newer list is due, for the log and the metrics; zero: never.
	NextUpdate() time.Time
}

// RevokedCertificates refuses the certificates of devices that a list revokes. Those that an administrator revokes are
// refused besides.
func RevokedCertificates(list RevocationList) Option {
	return present("RevokedCertificates", list != nil, func(c *config) { c.crl = list })
}
