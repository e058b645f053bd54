package server

import (
	"errors"
	"math"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// Quotas bound the bytes of request bodies that one sender sends in a second, on average. 0: no limit.
type Quotas struct {
	CredentialBytes int64 // quota-credential-bytes: a token, or an address if there are no tokens
	DeviceBytes     int64 // quota-device-bytes: a device with a credential of its own
	DefinitionBytes int64 // quota-definition-bytes: everybody together, for one definition
}

// DefaultQuotas are those of a server.
var DefaultQuotas = Quotas{CredentialBytes: 64 << 20, DeviceBytes: 1 << 20, DefinitionBytes: 64 << 20}

// rates are the quotas in use.
type rates struct{ credential, device, definition *admit.Rate }

func newRates(q Quotas) rates {
	return rates{
		credential: admit.NewRate("quota-credential-bytes", q.CredentialBytes),
		device:     admit.NewRate("quota-device-bytes", q.DeviceBytes),
		definition: admit.NewRate("quota-definition-bytes", q.DefinitionBytes),
	}
}

// of is the rate that a holder is bound by.
func (r rates) of(who admit.Holder) *admit.Rate {
	if who.Device {
		return r.device
	}
	return r.credential
}

// check returns the problem of a request whose sender, or whose definition, has to wait.
func (r rates) check(who admit.Holder, definition string) error {
	err := r.of(who).Check(who)
	if err == nil && definition != "" {
		err = r.definition.Check(admit.Holder{Key: definition})
	}
	return tooFast(err)
}

// add counts the bytes of a body.
func (r rates) add(who admit.Holder, definition string, bytes int64) {
	r.of(who).Add(who, bytes)
	if definition != "" {
		r.definition.Add(admit.Holder{Key: definition}, bytes)
	}
}

// tooFast is the problem of a sender that has to wait.
func tooFast(err error) error {
	e, ok := errors.AsType[*admit.RateError](err)
	if !ok {
		return err
	}
	p := problem(api.CodeBusy, e.Error())
	p.Limit, p.retry = e.Limit, int(math.Ceil(e.Retry.Seconds()))
	return p
}

// writeQuotas writes what quotas refused.
func (s *Server) writeQuotas(x *exposition) {
	const name = "lockstep_quota_refused_total"
	x.family(name, "counter", "Instances and requests that a quota refused.")
	s.engine.QuotaRefusals(func(quota string, n int64) { x.sample(name, n, "quota", quota) })
	x.sample(name, s.rates.credential.Refused(), "quota", "quota-credential-bytes")
	x.sample(name, s.rates.device.Refused(), "quota", "quota-device-bytes")
	x.sample(name, s.rates.definition.Refused(), "quota", "quota-definition-bytes")
}
