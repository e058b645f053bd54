package serve

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// quotaFlags are the quotas: numbers, and sizes a second.
type quotaFlags struct {
	limits                              lockstep.QuotaLimits
	all, credential, device, definition string
}

func (q *quotaFlags) add(f *pflag.FlagSet) {
	q.limits = lockstep.DefaultQuotas()
	f.Int64Var(&q.limits.Instances, "quota-instances", q.limits.Instances, "maximum open instances; 0: no limit")
	f.Int64Var(&q.limits.DefinitionInstances, "quota-definition-instances", q.limits.DefinitionInstances, "maximum open instances of one definition; 0: no limit")
	f.Int64Var(&q.limits.TreeInstances, "quota-tree-instances", q.limits.TreeInstances, "maximum open instances that one instance started, directly or through others; 0: no limit")
	f.StringVar(&q.all, "quota-bytes", "256MiB", "maximum `size` of the request bodies that arrive in a second; none: no limit")
	f.StringVar(&q.credential, "quota-credential-bytes", "64MiB", "maximum `size` of the request bodies that one token, or without tokens one address, sends in a second; none: no limit")
	f.StringVar(&q.device, "quota-device-bytes", "1MiB", "maximum `size` of the request bodies that one device sends in a second; none: no limit")
	f.StringVar(&q.definition, "quota-definition-bytes", "64MiB", "maximum `size` of the inputs that all together send to one definition in a second; none: no limit")
	f.Int64Var(&q.limits.CredentialStarts, "quota-credential-starts", q.limits.CredentialStarts, "maximum instances that one token, or without tokens one address, starts in a second; 0: no limit")
}

// option reads the sizes.
func (q *quotaFlags) option() (lockstep.Option, error) {
	for _, of := range []struct {
		flag, text string
		to         *int64
	}{
		{"quota-bytes", q.all, &q.limits.Bytes},
		{"quota-credential-bytes", q.credential, &q.limits.CredentialBytes},
		{"quota-device-bytes", q.device, &q.limits.DeviceBytes},
		{"quota-definition-bytes", q.definition, &q.limits.DefinitionBytes},
	} {
		if of.text == "none" {
			*of.to = 0
			continue
		}
		n, ok := parseSize(of.text)
		if !ok || n == 0 {
			return nil, cli.Usagef("--%s %q must be a size such as 512KiB or 2MiB, or none", of.flag, of.text)
		}
		*of.to = n
	}
	for _, of := range []struct {
		flag string
		n    int64
	}{
		{"quota-instances", q.limits.Instances},
		{"quota-definition-instances", q.limits.DefinitionInstances},
		{"quota-tree-instances", q.limits.TreeInstances},
		{"quota-credential-starts", q.limits.CredentialStarts},
	} {
		if of.n < 0 {
			return nil, cli.Usagef("--%s %s must not be negative; 0 is no limit", of.flag, strconv.FormatInt(of.n, 10))
		}
	}
	return lockstep.Quotas(q.limits), nil
}
