package lockstep

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// QuotaLimits bound what the namespace, a definition, a credential and a device may use. 0: no limit.
type QuotaLimits struct {
	Instances           int64 // open at a time in the namespace
	DefinitionInstances int64 // of them, of one definition
	TreeInstances       int64 // of them, started by one instance, directly or through others
	Bytes               int64 // of request bodies a second, by all senders together
	CredentialBytes     int64 // of them, by one token; without tokens, by one address
	DeviceBytes         int64 // likewise, by one device
	DefinitionBytes     int64 // likewise, by all senders together for one definition: the inputs of its instances
	CredentialStarts    int64 // instances that one token, or one address, starts a second by the API
}

// DefaultQuotas are the quotas without the option [Quotas].
func DefaultQuotas() QuotaLimits {
	e, s := engine.DefaultQuotas, server.DefaultQuotas
	return QuotaLimits{
		Instances: e.Instances, DefinitionInstances: e.DefinitionInstances, TreeInstances: e.TreeInstances,
		Bytes: s.Bytes, CredentialBytes: s.CredentialBytes, DeviceBytes: s.DeviceBytes, DefinitionBytes: s.DefinitionBytes, CredentialStarts: s.CredentialStarts,
	}
}

// Quotas replaces the quotas. They hold for each process: other nodes' instances are counted every five seconds.
func Quotas(q QuotaLimits) Option {
	return func(c *config) error {
		for _, n := range []int64{q.Instances, q.DefinitionInstances, q.TreeInstances, q.Bytes, q.CredentialBytes, q.DeviceBytes, q.DefinitionBytes, q.CredentialStarts} {
			if n < 0 {
				return &OptionError{"Quotas", fmt.Errorf("%d is negative", n)}
			}
		}
		c.quotas = q
		return nil
	}
}

func (q QuotaLimits) engine() engine.Quotas {
	return engine.Quotas{Instances: q.Instances, DefinitionInstances: q.DefinitionInstances, TreeInstances: q.TreeInstances}
}

func (q QuotaLimits) server() server.Quotas {
	return server.Quotas{Bytes: q.Bytes, CredentialBytes: q.CredentialBytes, DeviceBytes: q.DeviceBytes, DefinitionBytes: q.DefinitionBytes, CredentialStarts: q.CredentialStarts}
}
