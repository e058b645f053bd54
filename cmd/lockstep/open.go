package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) openCommand() *cobra.Command {
	var server remoteFlags
	cmd := &cobra.Command{
		Use: "open ID", Short: "Open an instance or the drawing of a definition in a browser", Args: exactly("the id of an instance or a definition"),
		Long:    "Open prints the address of an instance, or of a definition's drawing, and on a terminal opens it in a browser.",
		Example: `  lockstep open order`,
	}
	server.add(cmd)
	cmd.RunE = a.remotely(&server, func(r remote, args []string) error {
		address, err := r.addressOf(args[0])
		if err != nil {
			return err
		}
		if isTerminal(a.out) {
			if err := browse(r, address); err != nil {
				fmt.Fprintf(a.err, "no browser could be started: %v\n", err)
			}
		}
		_, err = fmt.Fprintln(a.out, address)
		return err
	})
	return cmd
}

// addressOf is where something can be seen: an instance, or else a definition.
func (r remote) addressOf(id string) (string, error) {
	if strings.HasPrefix(r.URL(), "unix:") {
		return "", usagef("no browser can open %s; give the address of a server that listens on a port", r.URL())
	}
	_, err := r.GetInstance(r.ctx, id, 0)
	var problem *client.Problem
	switch {
	case err == nil:
		return r.URL() + "/api/v1/instances/" + url.PathEscape(id), nil
	case !errors.As(err, &problem) || problem.Status != http.StatusNotFound:
		return "", err
	}
	name, version := splitVersion(id)
	if _, err := r.GetDefinition(r.ctx, name, client.Version{Version: version}); err != nil {
		if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
			return "", &failure{exit: exitNotFound, code: "not-found", title: "Not found", detail: fmt.Sprintf("there is no instance and no definition %q", id)}
		}
		return "", err
	}
	address := r.URL() + "/api/v1/definitions/" + url.PathEscape(name) + "/graph.svg"
	if version != "" {
		address += "?version=" + url.QueryEscape(version)
	}
	return address, nil
}

// browse starts the browser of the desktop.
func browse(r remote, address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(r.ctx, "open", address).Run()
	case "windows":
		return exec.CommandContext(r.ctx, "rundll32", "url.dll,FileProtocolHandler", address).Run()
	}
	return exec.CommandContext(r.ctx, "xdg-open", address).Run()
}
