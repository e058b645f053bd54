package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// feedPart is how much of the feed a follower reads at a time, and feedReads how often it does before it rests.
	feedPart  = 3
	feedReads = 30
	// followFor is how often it rests.
	followFor = 12
)

// follower is what a client read of the feed.
type follower struct {
	client int
	after  int64
	items  []store.FeedItem
}

// followFeed reads the feed behind what it read before, at whichever node, while others write.
func (c *client) followFeed(p *process) error {
	l := &c.w.ledger
	if c.follows == nil {
		c.follows = &follower{client: c.number}
		l.followers = append(l.followers, c.follows)
	}
	f := c.follows
	for range feedReads {
		feed, err := p.engine.Feed(p.ctx, f.after, feedPart)
		if err != nil || p.dead {
			return err
		}
		if feed.Oldest > f.after && c.w.c.Forget == 0 {
			c.w.violate("the feed is forgotten up to %d, and nobody said that it should be", feed.Oldest)
		}
		f.items, f.after = append(f.items, feed.Items...), feed.Next
		if len(feed.Items) == 0 {
			break
		}
	}
	if c.tries < followFor {
		return &notYet{"there will be more"}
	}
	return nil
}

// feed reads all of it.
func (w *world) feed(ctx context.Context) (items []store.FeedItem, oldest int64, err error) {
	for after := int64(0); ; {
		feed, err := w.db.Store.Feed(ctx, after, 1000)
		if err != nil {
			return nil, 0, err
		}
		items, oldest = append(items, feed.Items...), feed.Oldest
		if after = feed.Next; len(feed.Items) == 0 {
			return items, oldest, nil
		}
	}
}

// followed: who followed the feed read all that is in it up to where they are, in order, each item once.
func (w *world) followed(items []store.FeedItem, oldest int64) error {
	for _, f := range w.ledger.followers {
		w.check(Followed)
		want := told(items, oldest, f.after)
		if got := told(f.items, oldest, f.after); got != want {
			return fmt.Errorf("client %d followed the feed up to %d and read\n%s\nit is\n%s", f.client, f.after, got, want)
		}
	}
	return nil
}

// told writes the items between two positions.
func told(items []store.FeedItem, after, to int64) string {
	text := ""
	for _, i := range items {
		if i.Pos > after && i.Pos <= to {
			text += fmt.Sprintln(i.Pos, i.Instance, i.At, i.Status, i.Records)
		}
	}
	return text
}

// forgets: the feed forgets nothing before its time. What it returns is for after that.
func (l *ledger) forgets(ctx context.Context, before core.Time) func() {
	w := l.w
	if now := core.TimeOf(w.latest()); before > now-core.Time(w.c.Forget) {
		w.violate("what happened before %s is forgotten, and it is %s: it should stay for %s", before, now, w.c.Forget)
	}
	items, _, err := w.feed(ctx)
	if err != nil {
		return func() {}
	}
	return func() {
		left, _, err := w.feed(ctx)
		w.check(FeedKept)
		for i := range items {
			if items[i].At < before {
				continue
			}
			if err == nil && len(left) < len(items)-i {
				w.violate("the feed has forgotten what happened at %s with what is older than %s", items[i].At, before)
			}
			break
		}
	}
}

// histories: what is stored of an instance is what its commits said, in their order, and streams
// tell the same.
func (w *world) histories(ctx context.Context) error {
	s, l := w.db.Store, &w.ledger
	streamed := map[string][]core.Record{}
	items, oldest, err := w.feed(ctx)
	if err == nil {
		err = w.followed(items, oldest)
	}
	if err != nil {
		return err
	}
	for _, item := range items {
		streamed[item.Instance] = append(streamed[item.Instance], item.Records...)
	}
	for id, list := range streamed {
		streamed[id] = slices.DeleteFunc(list, func(r core.Record) bool { return r.Type == core.RecDeleted })
	}
	committed := map[string][]core.Record{}
	for _, me := range l.lives {
		committed[me.id] = append(committed[me.id], l.history[me]...)
		in, err := s.Instance(ctx, me.id)
		if err != nil || in.Created != me.created {
			continue // it was deleted
		}
		records, err := s.Records(ctx, me.id, 0, 0)
		if err != nil {
			return err
		}
		w.check(SameHistory)
		if got, want := fmt.Sprint(records), fmt.Sprint(l.history[me]); got != want {
			return fmt.Errorf("the history of %s is\n%s\nand its commits said\n%s", me.id, got, want)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(committed)) {
		w.check(SameStream)
		said := committed[id]
		if w.c.Forget > 0 {
			said = said[max(0, len(said)-len(streamed[id])):]
		}
		if got, want := fmt.Sprint(streamed[id]), fmt.Sprint(said); got != want {
			return fmt.Errorf("of %s a stream tells\n%s\nand its commits said\n%s", id, got, want)
		}
	}
	return nil
}
