package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// lookEvery is how often -w reads a list for which there is no stream.
const lookEvery = time.Second

// List writes a list, and with -w also what changes in it.
func List[T any](ctx context.Context, a *cli.App, l cli.Listing[T], flags *cli.ListFlags, list func() iter.Seq2[T, error]) error {
	if flags.Watch {
		return watch(ctx, a, l, flags, list)
	}
	return l.WriteSome(a, flags, list())
}

// watch writes a list, then a further line for each item that is new or changed, until ctx ends. What is no longer
// listed is told on stderr, unless newer items may have pushed it beyond the limit.
func watch[T any](ctx context.Context, a *cli.App, l cli.Listing[T], flags *cli.ListFlags, list func() iter.Seq2[T, error]) error {
	if err := flags.Format.CheckEndless(); err != nil {
		return err
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var seen map[string]string // what an item was when it was written, by name
	broken := false
	for {
		some, more, err := cli.Take(list(), flags.Limit)
		switch {
		case ctx.Err() != nil:
			return cli.Shown(cli.ExitInterrupted)
		case err != nil && (seen == nil || !client.IsTemporary(err)):
			return err
		case err != nil:
			if !broken && !a.Problems {
				fmt.Fprintf(a.Err, "%s; retrying\n", cli.Plain(err.Error()))
			}
			broken = true
		default:
			broken = false
			if seen, err = writeChanged(a, l, flags, seen, some, more); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return cli.Shown(cli.ExitInterrupted)
		case <-ticker.C:
		}
	}
}

// writeChanged writes the items that are not as they were seen; nil: all, with the names of the columns.
func writeChanged[T any](a *cli.App, l cli.Listing[T], flags *cli.ListFlags, seen map[string]string, items []T, more bool) (map[string]string, error) {
	now := make(map[string]string, len(items))
	var changed []T
	for _, item := range items {
		text, err := json.Marshal(l.Watched(item))
		if err != nil {
			return nil, fmt.Errorf("compare the answers: %w", err)
		}
		name := l.Name(item)
		now[name] = string(text)
		if before, was := seen[name]; !was || before != now[name] {
			changed = append(changed, item)
		}
	}
	if seen == nil {
		return now, l.WriteTaken(a, flags, changed, more)
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if _, listed := now[name]; !listed && !more && !a.Problems {
			fmt.Fprintf(a.Err, "%s is no longer listed\n", cli.Plain(name))
		}
	}
	if len(changed) == 0 {
		return now, nil
	}
	return now, l.Write(a, flags.Format.Headless(), changed)
}
