package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// completion asks a server for what an argument may be. A shell waits for it, so it asks
// once and not for long; without an answer there is nothing to offer.
func (a *app) completion(server *remoteFlags, ask func(context.Context, *client.Client, string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entry, err := server.target()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		token, err := entry.token()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := client.New(client.Options{URL: entry.URL, Token: token, Attempts: 1})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		var out []string
		for _, word := range ask(ctx, c, begun) {
			if strings.HasPrefix(word, begun) {
				out = append(out, word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeDefinitions(server *remoteFlags) cobra.CompletionFunc {
	return a.completion(server, func(ctx context.Context, c *client.Client, _ string) []string {
		page, _ := c.ListDefinitions(ctx, client.DefinitionQuery{Paging: client.Paging{Limit: 1000}})
		var out []string
		for _, d := range page.Items {
			out = append(out, d.ID+"\t"+d.Name)
		}
		return out
	})
}

// completeInstances offers instances for which an action is possible now; "" offers all.
func (a *app) completeInstances(server *remoteFlags, action string) cobra.CompletionFunc {
	return a.completion(server, func(ctx context.Context, c *client.Client, begun string) []string {
		filter := ""
		if begun != "" {
			filter = "id:" + begun
		}
		page, _ := c.ListInstances(ctx, client.InstanceQuery{Paging: client.Paging{Limit: 200}, Filter: filter})
		var out []string
		for _, in := range page.Items {
			if action == "" || slices.Contains(in.Allowed, action) {
				out = append(out, in.ID+"\t"+in.Definition.ID+" "+string(in.Status))
			}
		}
		return out
	})
}
