package remote

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// Ask asks a server for completions of a word.
type Ask func(ctx context.Context, o client.Options, cmd *cobra.Command, begun string) []string

// Complete completes with words from a server. The shell waits, so it tries once, with a short timeout.
func Complete(server *Flags, ask Ask) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		options, err := server.Options()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		options.Attempts = 1
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		var out []string
		for _, word := range ask(ctx, options, cmd, begun) {
			if word != "" && strings.HasPrefix(word, begun) && !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFirst completes the first argument.
func completeFirst(server *Flags, ask func(ctx context.Context, c *client.Client, begun string) []string) cobra.CompletionFunc {
	return Complete(server, func(ctx context.Context, o client.Options, cmd *cobra.Command, begun string) []string {
		c, err := client.New(o)
		if err != nil || cmd.Flags().NArg() > 0 {
			return nil
		}
		defer c.Close()
		return ask(ctx, c, begun)
	})
}

// CompleteDefinitions completes the ids of definitions.
func CompleteDefinitions(server *Flags) cobra.CompletionFunc {
	return completeFirst(server, func(ctx context.Context, c *client.Client, _ string) []string {
		page, _ := c.ListDefinitions(ctx, client.DefinitionQuery{Paging: client.Paging{Limit: 1000}})
		var out []string
		for _, d := range page.Items {
			out = append(out, d.ID+"\t"+d.Name)
		}
		return out
	})
}

// CompleteInstances completes instances that allow an action now; "": all.
func CompleteInstances(server *Flags, action string) cobra.CompletionFunc {
	return completeFirst(server, func(ctx context.Context, c *client.Client, begun string) []string {
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
