package core

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func texted(size int, n int64) expr.Value {
	return expr.Object(expr.Member{Key: "n", Value: expr.Int(n)}, expr.Member{Key: "text", Value: expr.String(strings.Repeat("x", size))})
}

func dataRecord(v expr.Value) Record { return Record{Type: RecEntered, Data: v, HasData: true} }

// TestChunksOfEqualValues: a value that is built anew, and one with another field beside a large one, are not stored again.
func TestChunksOfEqualValues(t *testing.T) {
	var s State
	first := s.Tell(ChunkBytes, []Record{dataRecord(texted(2*ChunkBytes, 1))}, 1)
	again := s.Tell(ChunkBytes, []Record{dataRecord(texted(2*ChunkBytes, 1)), dataRecord(texted(2*ChunkBytes, 2))}, 3)
	if len(first.Fresh) != 1 || len(again.Fresh) != 0 {
		t.Errorf("%d chunks, then %d", len(first.Fresh), len(again.Fresh))
	}
	if small := new(State).Tell(ChunkBytes, []Record{dataRecord(texted(ChunkBytes/2, 1))}, 1); small != nil {
		t.Errorf("a small value has %d chunks", len(small.Fresh))
	}
	list := make([]expr.Value, 1000) // large as a whole, of small parts
	for i := range list {
		list[i] = texted(20, int64(i))
	}
	if whole := new(State).Tell(ChunkBytes, []Record{dataRecord(expr.Array(list...))}, 1); len(whole.Fresh) != 1 {
		t.Errorf("a long list has %d chunks", len(whole.Fresh))
	}
}

// TestChunksAreForgotten: a state in memory keeps no values to which its pages do not refer, however many the history told.
func TestChunksAreForgotten(t *testing.T) {
	p := mustAssemble(t, `
func f
region main 1
node A call {"result":{"mode":"replace"}} -> 1`)
	r, err := Step(p, nil, 1, Start{Data: texted(2*ChunkBytes, 0)})
	if err != nil {
		t.Fatal(err)
	}
	told, stored := int64(0), map[pageKey]Page{}
	large := new(ChunkReader)
	for n := range int64(20) {
		told += int64(len(r.Records))
		chunks := r.State.Tell(ChunkBytes, r.Records, told)
		for i, data := range chunks.Fresh {
			large.Add(ChunkAt(chunks.Total, i), data)
		}
		bytes := 0
		for _, page := range r.State.TakeDirty(nil) {
			stored[pageKey{page.Frame, page.Part}] = page
			bytes += len(page.Data)
		}
		if bytes > ChunkBytes {
			t.Errorf("step %d writes pages of %d bytes", n, bytes)
		}
		if size := r.State.ChunkSize(); size > 6*ChunkBytes { // what it was started with, its data, its input
			t.Errorf("after step %d it knows %d bytes of chunks", n, size)
		}
		var open Ticket
		for _, c := range r.Commands {
			if call, ok := c.(Invoke); ok {
				open = call.Ticket
			}
		}
		if r, err = Step(p, r.State, 2, Reply{Ticket: open, Value: expr.String(strings.Repeat(string(rune('a'+n)), 2*ChunkBytes))}); err != nil || r.Stale {
			t.Fatal(err, r.Stale)
		}
	}
	var pages []Page
	for _, page := range stored {
		if page.Data != nil {
			pages = append(pages, page)
		}
	}
	if _, err := DecodeState(p, pages, nil); err == nil {
		t.Error("a state is read without the chunks to which it refers")
	}
	if s, err := DecodeState(p, large.Pages(pages), nil); err != nil || s.Data().Len() != 2*ChunkBytes {
		t.Errorf("%v", err)
	}
}
