package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/server"
)

// serveFlags are the settings of `lockstep serve`.
type serveFlags struct {
	hostFlags
	tokens, tlsCert, tlsKey string
	insecure, check         bool
	hosts, origins          []string
}

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve definitions and instances over HTTP", Args: atMost(0),
		Long: "Serve runs a server until SIGTERM or Ctrl-C: then it takes no more requests, finishes those in flight and ends; a second signal\n" +
			"ends it at once, and the next start goes on where it was. It listens on this machine only; other addresses need --tokens and TLS.\n" +
			"Settings come from flags, then from the environment (LOCKSTEP_NORTH, …), then from the file of --config.",
		Example: `  lockstep serve
  lockstep serve --store sqlite:/var/lib/lockstep/lockstep.db --functions functions.yaml
  lockstep serve --north 0.0.0.0:8443 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  lockstep serve --config lockstep.yaml --check`,
	}
	flags.add(cmd, "sqlite:"+stateDir+"/lockstep.db", "fail", "info")
	f := cmd.Flags()
	f.StringVar(&flags.namespace, "namespace", "default", "the part of the store to serve")
	f.StringVar(&flags.tokens, "tokens", "", "a `file` of tokens (\"lockstep token new\" makes lines for it)")
	f.StringVar(&flags.tlsCert, "tls-cert", "", "the certificate `file` for TLS")
	f.StringVar(&flags.tlsKey, "tls-key", "", "its key `file`")
	f.BoolVar(&flags.insecure, "insecure", false, "listen on other than loopback addresses without tokens or TLS: something else protects them")
	f.StringArrayVar(&flags.hosts, "host", nil, "a further `name` of this server, where there are no tokens; repeatable")
	f.StringArrayVar(&flags.origins, "origin", nil, "another site whose pages may change something, `scheme://host[:port]`; repeatable")
	f.BoolVar(&flags.check, "check", false, "only check the settings and what they name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.settings(cmd.Context(), cmd); err != nil {
			return err
		}
		return a.serve(cmd.Context(), &flags)
	}
	return cmd
}

func (a *app) serve(ctx context.Context, flags *serveFlags) (err error) {
	n, err := flags.configure(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	cfg := server.Config{Hosts: flags.hosts, Origins: flags.origins}
	if cfg.Tokens, err = readTokens(ctx, flags.tokens); err != nil {
		return err
	}
	listening := server.Listening{
		Address: flags.north, CertFile: flags.tlsCert, KeyFile: flags.tlsKey, Tokens: cfg.Tokens != nil, Insecure: flags.insecure,
	}
	if flags.check {
		return a.checkServe(n, listening)
	}
	if err := n.listen(listening); err != nil {
		return err
	}
	if err := n.open(false); err != nil {
		return err
	}
	address := n.listener.Addr()
	if flags.insecure && !isLoopbackAddr(address) {
		n.log.Warn("other machines can reach this server, and --insecure says that something else protects it", "address", address.String())
	}
	if err := n.announce("serve", flags.tlsCert != ""); err != nil {
		return err
	}
	if err := n.serve(ctx, cfg); err != nil {
		return err
	}
	n.log.Info("stopped")
	return nil
}

// checkServe checks what is left to check without serving.
func (a *app) checkServe(n *host, l server.Listening) error {
	host, _, err := net.SplitHostPort(l.Address)
	if err != nil {
		return usagef("--north %q is not HOST:PORT", l.Address)
	}
	l.Address = net.JoinHostPort(host, "0") // the port may be in use by what is to be replaced
	listener, err := server.Listen(l)
	if err != nil {
		return listenFailure(err)
	}
	_ = listener.Close()
	note := "will be made"
	if n.spec.exists() {
		note = "can be opened"
		if err := n.open(false); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "the settings are sound; the store %s %s\n", n.spec, note)
	return nil
}

func readTokens(ctx context.Context, file string) (*server.Tokens, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readFile(ctx, file)
	if err != nil {
		return nil, err
	}
	tokens, err := server.ParseTokens(text)
	if err != nil {
		return nil, invalidf("%s: %v", file, err)
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o022 != 0 {
		return nil, invalidf("%s can be written by others (mode %v): everybody could add a token; chmod go-w %s", file, info.Mode().Perm(), file)
	}
	return tokens, nil
}

// urlOf is how a listener is reached from this machine.
func urlOf(address net.Addr, tls bool) string {
	text := address.String()
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		text = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	if tls {
		return "https://" + text
	}
	return "http://" + text
}

func isLoopbackAddr(address net.Addr) bool {
	host, _, _ := strings.Cut(address.String(), "%")
	h, _, err := net.SplitHostPort(host)
	return err == nil && isLoopback(h)
}
