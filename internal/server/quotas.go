package server

import (
	"errors"
	"math"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// Quotas bound the bytes of request bodies that arrive in a second, and the instances that one sender starts in a second,
// on average. 0: no limit.
type Quotas struct {
	Bytes            int64 // quota-bytes: of all senders together
	CredentialBytes  int64 // quota-credential-bytes: a token, or an address if there are no tokens
	DeviceBytes      int64 // quota-device-bytes: a device with a credential of its own
	DefinitionBytes  int64 // quota-definition-bytes: of all senders together, for one definition
	CredentialStarts int64 // quota-credential-starts: instances that a token, or an address, starts
}

// DefaultQuotas are those of a server.
var DefaultQuotas = Quotas{Bytes: 256 << 20, CredentialBytes: 64 << 20, DeviceBytes: 1 << 20, DefinitionBytes: 64 << 20}

// rates are the quotas in use.
type rates struct{ all, credential, device, definition, starts *admit.Rate }

func newRates(q Quotas) rates {
	const bytes = "bytes arrive"
	return rates{
		all:        admit.NewRate("quota-bytes", bytes, q.Bytes),
		credential: admit.NewRate("quota-credential-bytes", bytes, q.CredentialBytes),
		device:     admit.NewRate("quota-device-bytes", bytes, q.DeviceBytes),
		definition: admit.NewRate("quota-definition-bytes", bytes, q.DefinitionBytes),
		starts:     admit.NewRate("quota-credential-starts", "instances are started", q.CredentialStarts),
	}
}

// everybody is the holder of what all senders share.
var everybody admit.Holder

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
	if err == nil {
		err = r.all.Check(everybody)
	}
	return tooFast(err)
}

// start counts instances that the sender of a request is about to start, or returns the problem if it has to wait.
func (v *visit) start(n int) error {
	if err := v.s.rates.starts.Check(v.who); err != nil {
		return tooFast(err)
	}
	v.s.rates.starts.Add(v.who, int64(n))
	return nil
}

// add counts the bytes of a body.
func (r rates) add(who admit.Holder, definition string, bytes int64) {
	r.of(who).Add(who, bytes)
	if definition != "" {
		r.definition.Add(admit.Holder{Key: definition}, bytes)
	}
	r.all.Add(everybody, bytes)
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
	x.sample(name, s.rates.all.Refused(), "quota", "quota-bytes")
	x.sample(name, s.rates.credential.Refused(), "quota", "quota-credential-bytes")
	x.sample(name, s.rates.device.Refused(), "quota", "quota-device-bytes")
	x.sample(name, s.rates.definition.Refused(), "quota", "quota-definition-bytes")
	x.sample(name, s.rates.starts.Refused(), "quota", "quota-credential-starts")
}
