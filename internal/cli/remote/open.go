package remote

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
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// OpenCommand is `lockstep open`.
func OpenCommand(a *cli.App) *cobra.Command {
	var server Flags
	cmd := &cobra.Command{
		Use: "open [ID]", Short: "Open the page, or an instance or a definition on it, in a browser", Args: cli.AtMost(1),
		Long: "Open prints the address of the page, or of an instance or a definition on it, and on a terminal opens it in a browser.",
		Example: `  lockstep open
  lockstep open order`,
	}
	server.Add(cmd)
	cmd.RunE = Run(a, &server, func(r Server, args []string) error {
		id := ""
		if len(args) == 1 {
			id = args[0]
		}
		address, err := r.addressOf(id)
		if err != nil {
			return err
		}
		if cli.IsTerminal(a.Out) {
			if err := browse(r, address); err != nil {
				fmt.Fprintf(a.Err, "cannot start a browser: %v\n", err)
			}
		}
		_, err = fmt.Fprintln(a.Out, address)
		return err
	})
	return cmd
}

// addressOf is the address on the page of an instance or, if there is none, of a definition; without an id, of the page.
func (r Server) addressOf(id string) (string, error) {
	if strings.HasPrefix(r.URL(), "unix:") {
		return "", cli.Usagef("no browser can open %s; give the address of a server that listens on a port", r.URL())
	}
	if id == "" {
		return r.URL() + "/", nil
	}
	_, err := r.GetInstance(r.Ctx, id, 0)
	var problem *client.Problem
	switch {
	case err == nil:
		return r.URL() + "/instances/" + url.PathEscape(id), nil
	case !errors.As(err, &problem) || problem.Status != http.StatusNotFound:
		return "", err
	}
	name, version := cli.SplitVersion(id)
	if _, err := r.GetDefinition(r.Ctx, name, client.Version{Version: version}); err != nil {
		if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
			return "", cli.NotFoundf("there is no instance and no definition %q", id)
		}
		return "", err
	}
	address := r.URL() + "/definitions/" + url.PathEscape(name)
	if version != "" {
		address += "?version=" + url.QueryEscape(version)
	}
	return address, nil
}

// browse starts the browser of the desktop.
func browse(r Server, address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(r.Ctx, "open", address).Run()
	case "windows":
		return exec.CommandContext(r.Ctx, "rundll32", "url.dll,FileProtocolHandler", address).Run()
	}
	return exec.CommandContext(r.Ctx, "xdg-open", address).Run()
}
