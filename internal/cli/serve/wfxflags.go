package serve

import (
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// wfxFlags are settings under their names in wfx: flags, keys of the settings file, and variables that
// begin with WFX_. Settings under our own names take precedence.
type wfxFlags struct {
	values  map[string]*string
	schemes *[]string
	more    []wfxListener // further addresses of the sides
	noTLS   bool          // the first address of a side has no TLS, even if there is a certificate
}

// wfxListener is an address of a side.
type wfxListener struct {
	side    server.Side
	address string
	tls     bool
}

// wfxNames are the supported flags of wfx, with their equivalents.
var wfxNames = []struct{ name, ours string }{
	{"client-host", "--south"},
	{"client-port", "--south"},
	{"client-tls-host", "--south"},
	{"client-tls-port", "--south"},
	{"client-unix-socket", "--south unix:PATH"},
	{"mgmt-host", "--north"},
	{"mgmt-port", "--north"},
	{"mgmt-tls-host", "--north"},
	{"mgmt-tls-port", "--north"},
	{"mgmt-unix-socket", "--north unix:PATH"},
	{"tls-certificate", "--tls-cert"},
	{"tls-ca", "--south-client-ca"},
	{"simple-fileserver", "--download"},
	{"storage", "--store: sqlite or postgres"},
	{"storage-opt", "--store: the file or the address"},
}

// Log formats and levels of wfx.
var (
	wfxLogFormats = map[string]string{"pretty": "text"}
	wfxLogLevels  = map[string]string{"trace": "debug", "fatal": "error", "panic": "error"}
)

const (
	wfxPrefix = "WFX_"
	wfxScheme = "scheme"
)

var wfxSchemes = []string{"http", "https", "unix"}

// wfxSides are the sides, with their ports in wfx.
var wfxSides = []struct {
	ours                  server.Side
	theirs, port, tlsPort string
}{{server.SouthSide, "client", "8080", "8443"}, {server.NorthSide, "mgmt", "8081", "8444"}}

func (w *wfxFlags) add(f *pflag.FlagSet) {
	w.values = map[string]*string{}
	for _, n := range wfxNames {
		w.values[n.name] = f.String(n.name, "", "wfx's name for "+n.ours)
		_ = f.MarkHidden(n.name) // fails only for an unknown flag
	}
	w.schemes = f.StringSlice(wfxScheme, nil, "wfx's name for how the sides are served: http, https, unix")
	_ = f.MarkHidden(wfxScheme)
}

// fromEnvironment reads the variables of wfx. Flags take precedence.
func (w *wfxFlags) fromEnvironment(f *pflag.FlagSet) error {
	names := []string{"tls-key", "log-format", "log-level", wfxScheme}
	for _, n := range wfxNames {
		names = append(names, n.name)
	}
	for _, name := range names {
		variable := wfxPrefix + strings.TrimPrefix(cli.EnvName(name), cli.EnvPrefix)
		if value := os.Getenv(variable); value != "" && !f.Changed(name) {
			if err := f.Set(name, value); err != nil {
				return cli.Usagef("%s: %v", variable, err)
			}
		}
	}
	return nil
}

func (w *wfxFlags) get(name string) string { return *w.values[name] }

// apply sets our flags from those of wfx.
func (w *wfxFlags) apply(f *pflag.FlagSet) error {
	schemes := *w.schemes
	for _, scheme := range schemes {
		if !slices.Contains(wfxSchemes, scheme) {
			return cli.Usagef("--scheme %q: must be http, https or unix", scheme)
		}
	}
	set := func(ours, theirs, value string) error {
		if value == "" || f.Changed(ours) {
			return nil
		}
		if err := f.Set(ours, value); err != nil {
			return cli.Usagef("--%s: %v", theirs, err)
		}
		return nil
	}
	store, err := wfxStore(w.get("storage"), w.get("storage-opt"))
	if err != nil {
		return err
	}
	for _, pair := range [][3]string{
		{"tls-cert", "tls-certificate", w.get("tls-certificate")},
		{"south-client-ca", "tls-ca", w.get("tls-ca")},
		{"download", "simple-fileserver", w.get("simple-fileserver")},
		{"store", "storage", store},
	} {
		if err := set(pair[0], pair[1], pair[2]); err != nil {
			return err
		}
	}
	if slices.Contains(schemes, "https") && f.Lookup("tls-cert").Value.String() == "" && f.Lookup("south-tls-cert").Value.String() == "" {
		return cli.Usagef("--scheme https needs --tls-certificate and --tls-key")
	}
	first := ""
	if len(schemes) > 0 {
		first = schemes[0]
		w.noTLS = len(schemes) > 1 && first != "https"
	}
	if first == "http" && len(schemes) == 1 && w.get("tls-certificate") != "" {
		return cli.Usagef("--scheme http cannot be combined with --tls-certificate; --scheme http,https serves both")
	}
	if w.passed(f, schemes) {
		return nil
	}
	for _, side := range wfxSides {
		if f.Changed(string(side.ours)) {
			continue
		}
		if err := set(string(side.ours), string(side.ours), w.address(first, side.theirs, side.port, side.tlsPort)); err != nil {
			return err
		}
		for _, scheme := range schemes[min(1, len(schemes)):] {
			address := w.address(scheme, side.theirs, side.port, side.tlsPort)
			if address == "" {
				address = net.JoinHostPort("127.0.0.1", side.port)
			}
			w.more = append(w.more, wfxListener{side.ours, address, scheme == "https"})
		}
	}
	return nil
}

// passed uses two sockets of a service manager as wfx does with the scheme unix: the first is the south,
// unless they have the names of the sides.
func (w *wfxFlags) passed(f *pflag.FlagSet, schemes []string) bool {
	names := server.Inherited()
	if len(schemes) != 1 || schemes[0] != "unix" || len(names) != 2 || f.Changed("north") || f.Changed("south") {
		return false
	}
	south, north := "fd:3", "fd:4"
	if slices.Contains(names, "north") && slices.Contains(names, "south") {
		south, north = "systemd:south", "systemd:north"
	}
	return f.Set("south", south) == nil && f.Set("north", north) == nil
}

// address is the address of a side by the flags of wfx; "": they do not set it.
func (w *wfxFlags) address(scheme, side, port, tlsPort string) string {
	socket := w.get(side + "-unix-socket")
	if socket != "" && (scheme == "" || scheme == "unix") {
		return "unix:" + socket
	}
	if scheme == "unix" {
		// the default of wfx
		return "unix:/tmp/wfx-" + side + ".sock"
	}
	host, at := w.get(side+"-host"), w.get(side+"-port")
	tlsHost, tlsAt := w.get(side+"-tls-host"), w.get(side+"-tls-port")
	if scheme == "https" || scheme == "" && host == "" && at == "" && tlsHost+tlsAt != "" {
		host, at = tlsHost, tlsAt
		port = tlsPort
	} else if host == "" && at == "" {
		return ""
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if at == "" {
		at = port
	}
	return net.JoinHostPort(host, at)
}

// listenings are the listeners of the further schemes.
func (w *wfxFlags) listenings(sides ...*server.Listening) (more []*server.Listening) {
	for _, at := range w.more {
		for _, l := range sides {
			if l == nil || l.Side != at.side {
				continue
			}
			beside := *l
			beside.Address = at.address
			if !at.tls {
				withoutTLS(&beside)
			}
			more = append(more, &beside)
		}
	}
	for _, l := range sides {
		if l != nil && w.noTLS {
			withoutTLS(l)
		}
	}
	return more
}

func withoutTLS(l *server.Listening) {
	l.CertFile = ""
	l.KeyFile = ""
	l.ClientCAFile = ""
}
