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
	CredentialBytes     int64 // of request bodies a second, by one token; without tokens, by one address
	DeviceBytes         int64 // likewise, by one device
	DefinitionBytes     int64 // likewise, by everybody together for one definition: the inputs of its instances
}

// DefaultQuotas are the quotas without the option [Quotas].
func DefaultQuotas() QuotaLimits {
	e, s := engine.DefaultQuotas, server.DefaultQuotas
	return QuotaLimits{e.Instances, e.DefinitionInstances, e.TreeInstances, s.CredentialBytes, s.DeviceBytes, s.DefinitionBytes}
}

// Quotas replaces the quotas. They hold for each process: other nodes' instances are counted every five seconds.
func Quotas(q QuotaLimits) Option {
	return func(c *config) error {
		for _, n := range []int64{q.Instances, q.DefinitionInstances, q.TreeInstances, q.CredentialBytes, q.DeviceBytes, q.DefinitionBytes} {
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
	return server.Quotas{CredentialBytes: q.CredentialBytes, DeviceBytes: q.DeviceBytes, DefinitionBytes: q.DefinitionBytes}
}
