package main

import (
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// wfxFlags are the names that users of wfx know: flags, keys of the settings file and
// variables that begin with WFX_. They stand for ours, and what is said under our names
// counts more.
type wfxFlags struct{ values map[string]*string }

// wfxNames are the flags of wfx that have a meaning here, with what they are for.
var wfxNames = []struct{ name, stands string }{
	{"scheme", "http, https or unix"},
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
}

const wfxPrefix = "WFX_"

func (w *wfxFlags) add(f *pflag.FlagSet) {
	w.values = map[string]*string{}
	for _, n := range wfxNames {
		w.values[n.name] = f.String(n.name, "", "wfx's name for "+n.stands)
		_ = f.MarkHidden(n.name) // it was added just now
	}
}

// fromEnvironment takes the variables of wfx. One that says what a flag says already
// is passed over.
func (w *wfxFlags) fromEnvironment(f *pflag.FlagSet) error {
	names := []string{"tls-key"}
	for _, n := range wfxNames {
		names = append(names, n.name)
	}
	for _, name := range names {
		variable := wfxPrefix + strings.TrimPrefix(envName(name), envPrefix)
		if value := os.Getenv(variable); value != "" && !f.Changed(name) {
			if err := f.Set(name, value); err != nil {
				return usagef("%s: %v", variable, err)
			}
		}
	}
	return nil
}

func (w *wfxFlags) get(name string) string { return *w.values[name] }

// apply gives our flags what was said under the names of wfx.
func (w *wfxFlags) apply(f *pflag.FlagSet) error {
	scheme := w.get("scheme")
	switch scheme {
	case "", "http", "https", "unix":
	default:
		return usagef("--scheme %q: a side has one scheme here, http, https or unix", scheme)
	}
	for ours, theirs := range map[string]string{"tls-cert": "tls-certificate", "south-client-ca": "tls-ca", "download": "simple-fileserver"} {
		if value := w.get(theirs); value != "" && !f.Changed(ours) {
			if err := f.Set(ours, value); err != nil {
				return usagef("--%s: %v", theirs, err)
			}
		}
	}
	if scheme == "https" && f.Lookup("tls-cert").Value.String() == "" && f.Lookup("south-tls-cert").Value.String() == "" {
		return usagef("--scheme https needs --tls-certificate and --tls-key")
	}
	if scheme == "http" && w.get("tls-certificate") != "" {
		return usagef("--scheme http and --tls-certificate do not go together: a side is served with TLS or without")
	}
	for _, side := range []struct{ ours, theirs, port, tlsPort string }{{"south", "client", "8080", "8443"}, {"north", "mgmt", "8081", "8444"}} {
		if f.Changed(side.ours) {
			continue
		}
		if address := w.address(scheme, side.theirs, side.port, side.tlsPort); address != "" {
			if err := f.Set(side.ours, address); err != nil {
				return usagef("--%s: %v", side.ours, err)
			}
		}
	}
	return nil
}

// address is where a side is, by the flags of wfx; "" where they say nothing.
func (w *wfxFlags) address(scheme, side, port, tlsPort string) string {
	socket := w.get(side + "-unix-socket")
	if socket != "" && (scheme == "" || scheme == "unix") {
		return "unix:" + socket
	}
	if scheme == "unix" {
		// where wfx puts it when nothing is said
		return "unix:/tmp/wfx-" + side + ".sock"
	}
	host, at := w.get(side+"-host"), w.get(side+"-port")
	tlsHost, tlsAt := w.get(side+"-tls-host"), w.get(side+"-tls-port")
	if scheme == "https" || scheme == "" && host == "" && at == "" && tlsHost+tlsAt != "" {
		host, at, port = tlsHost, tlsAt, tlsPort
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
