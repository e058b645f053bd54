package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var chunkTests = []testCase{
	{"large values are stored with the history", chunks},
	{"the history of a deleted instance keeps its large values", chunksGone},
	{"large values are those of their place in the history", chunksMisplaced},
}

// large is a value that is a chunk, with a part that is one.
func large(part expr.Value, n int64) expr.Value {
	return expr.Object(expr.Member{Key: "n", Value: expr.Int(n)}, expr.Member{Key: "part", Value: part}, expr.Member{Key: "rest", Value: expr.String(strings.Repeat("y", 30))})
}

// told is what fillChunks wrote.
type told struct {
	part, first, second expr.Value
	chunks              [][]byte // those of the first commit, then of the second
}

// fillChunks commits two steps of an instance: the second one tells a value again, and one that has it as a part.
func fillChunks(k kit, id string) (out told) {
	k.t.Helper()
	const least = 40
	out.part = expr.String(strings.Repeat("x", 100))
	out.first, out.second = large(out.part, 1), large(out.part, 2)
	state := new(core.State)
	commit := func(c store.Commit) {
		c.Chunks = state.Tell(least, c.Records, c.Instance.Records+int64(len(c.Records)))
		var refs []core.ChunkRef
		for _, v := range []expr.Value{out.part, out.second} {
			if r, ok := c.Chunks.Ref(v); ok {
				refs = append(refs, r)
			}
		}
		c.Pages = []core.Page{{Frame: 1, Data: append(core.AppendChunkRefs([]byte{2}, refs), "page"...)}}
		out.chunks = append(out.chunks, c.Chunks.Fresh...)
		k.commit(c)
	}
	row := store.Instance{ID: id, Created: 5, Status: core.Running, Labels: expr.EmptyObject}
	commit(store.Commit{
		Instance: row,
		Records:  []core.Record{{Type: core.RecStarted, Data: out.part, HasData: true}, {Type: core.RecCalled, Data: out.first, HasData: true}},
		Calls:    []store.Call{{Instance: id, Invoke: core.Invoke{Ticket: 1, Function: ir.Function{Name: "f"}, Args: out.first}}},
	})
	row = k.row(id)
	row.Status, row.Output, row.Updated = core.Paused, out.second, 6
	again := expr.String(strings.Clone(out.part.Str())) // equal, and built anew
	commit(store.Commit{
		Instance: row,
		Records:  []core.Record{{Type: core.RecReturned, Data: again, HasData: true}, {Type: core.RecFinished, Data: out.second, HasData: true, Fault: &core.Fault{Name: "F", Data: out.part}}},
	})
	return out
}

func chunks(k kit) {
	out := fillChunks(k, "l")
	k.want("a part that is told already is not stored again", len(out.chunks), 3)
	k.want("the output", k.row("l").Output, out.second)
	list, err := k.Instances(ctx, store.Query{})
	k.check(err)
	k.want("the output in a list", list[0].Output, out.second)
	list, err = k.Instances(ctx, store.Query{Bare: true})
	k.check(err)
	k.want("the output in a bare list", list[0].Output, expr.Null)
	records := func(after int64, limit int) (out string) {
		list, err := k.Records(ctx, "l", after, limit)
		k.check(err)
		for _, r := range list {
			out += fmt.Sprintln(r.Type, r.Data, r.Fault != nil && expr.Equal(r.Fault.Data, r.Data))
		}
		return out
	}
	third, fourth := fmt.Sprintln(core.RecReturned, out.part, false), fmt.Sprintln(core.RecFinished, out.second, false)
	k.want("the history", records(0, 0), fmt.Sprintln(core.RecStarted, out.part, false)+fmt.Sprintln(core.RecCalled, out.first, false)+third+fourth)
	k.want("its third record", records(2, 1), third)
	k.want("its end", records(3, 0), fourth)
	feed, err := k.Feed(ctx, 0, 10)
	k.check(err)
	k.want("the feed", fmt.Sprint(feed.Items[0].Records[0].Data, feed.Items[1].Records[0].Data, feed.Items[1].Records[1].Fault.Data), fmt.Sprint(out.part, out.part, out.part))
	feed, err = k.Feed(ctx, feed.Items[0].Pos, 10)
	k.check(err)
	k.want("a part of the feed", feed.Items[0].Records[1].Data, out.second)
	calls, err := k.Calls(ctx, "l")
	k.check(err)
	k.want("the arguments of a call", calls[0].Args, out.first)

	pages, err := k.Pages(ctx, "l")
	k.check(err)
	states, _, err := k.States(ctx, []string{"l"})
	k.check(err)
	for what, pages := range map[string][]core.Page{"pages": pages, "states": states[0].Pages} {
		if len(pages) != 3 || pages[0].Frame != 1 || pages[1].Chunk != core.ChunkAt(2, 0) || pages[2].Chunk != core.ChunkAt(4, 0) ||
			!bytes.Equal(pages[1].Data, out.chunks[0]) || !bytes.Equal(pages[2].Data, out.chunks[2]) {
			k.t.Errorf("%s: %v", what, pages)
		}
	}
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
}

func chunksGone(k kit) {
	out := fillChunks(k, "l")
	k.end("l", 9)
	k.check(k.DeleteInstance(ctx, "l", store.Deletion{At: 10}))
	feed, err := k.Feed(ctx, 0, 10)
	k.check(err)
	k.want("the feed", fmt.Sprint(feed.Items[1].Records[0].Data, feed.Items[1].Records[1].Data), fmt.Sprint(out.part, out.second))
	if _, err := k.Pages(ctx, "l"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("the state of a deleted instance: %v", err)
	}
	other := fillChunks(k, "l")
	k.want("the output of another one with its id", k.row("l").Output, other.second)
	k.end("l", 19)
	k.check(k.DeleteInstance(ctx, "l", store.Deletion{At: 20}))
	n, err := k.PurgeFeed(ctx, 100, 100)
	k.check(err)
	k.want("items forgotten", n, 8)
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
}

func chunksMisplaced(k kit) {
	records := []core.Record{{Type: core.RecStarted, Data: expr.String(strings.Repeat("x", 100)), HasData: true}}
	chunks := new(core.State).Tell(40, records, 2)
	c := store.Commit{Instance: store.Instance{ID: "l", Status: core.Waiting}, Records: records, Chunks: chunks}
	if err := k.Commit(ctx, c); err == nil || !strings.Contains(err.Error(), "history of 2 records, not 1") {
		k.t.Errorf("chunks of another place are stored: %v", err)
	}
	if _, err := k.Instance(ctx, "l"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("something is stored: %v", err)
	}
}
