package core

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// transcriptPrograms are the programs of all transcripts, for fuzzing.
func transcriptPrograms(t testing.TB) []*Program {
	t.Helper()
	paths, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var out []*Program
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "program\n")
		source, _, _ := strings.Cut(rest, "----")
		out = append(out, mustAssemble(t, source))
	}
	return out
}

// FuzzStep throws random inputs, in random order and at random times, at every
// transcript's program. The host behind it stores only pages, does every step
// twice, and fails on any difference, panic or broken invariant.
func FuzzStep(f *testing.F) {
	for i := range transcriptPrograms(f) {
		f.Add([]byte{byte(i), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
		f.Add([]byte{byte(i), 1, 1, 1, 3, 1, 1, 0, 2, 1, 0, 3, 3, 3})
	}
	programs := transcriptPrograms(f)
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 {
			return
		}
		h := newHost(t, programs[int(script[0])%len(programs)])
		must := func(r Result, err error) Result {
			if err != nil && !isRejected(err) {
				t.Fatal(err)
			}
			return r
		}
		must(h.step(Start{Data: startData(h.p), Seed: 1}))
		for _, b := range script[1:] {
			if !h.alive {
				return
			}
			open := h.state().Open(h.p)
			switch {
			case b < 160 && len(open) > 0:
				o := open[int(b>>2)%len(open)]
				must(h.step(randomReply(h, o, b)))
			case b < 200:
				h.now += Time(b) * 1e9
				for _, tk := range h.state().Due(h.now) {
					must(h.step(Reply{Ticket: tk}))
				}
			case b < 230:
				verb := []Verb{VerbCancel, VerbTerminate, VerbSuspend, VerbResume, VerbRetry, VerbSkip, VerbAmend, VerbLabel}[b%8]
				must(h.step(Control{Verb: verb, Data: h.json(`{"v":1}`), HasData: b%3 > 0, Compensate: b%2 > 0}))
			case b < 240:
				choice := []string{"INSTALLING", "NEW", "WORK", "DONE"}[b%4]
				must(h.step(Take{Actor: "CLIENT", Choice: choice, Value: expr.EmptyObject}))
			default:
				must(h.step(Continue{}))
			}
		}
	})
}

// startData is what a program can be started with.
func startData(p *Program) expr.Value {
	if p.Job {
		return value(`{"clientId":"dev","definition":{"n":1}}`)
	}
	return value(`{"items":[1,2],"order":1}`)
}

func randomReply(h *host, o Open, b byte) Reply {
	r := Reply{Ticket: o.Ticket, Value: expr.Int(int64(b))}
	switch b % 4 {
	case 0:
		r.Value = h.json(`{"ok":true,"id":"1","source":"s","type":"t","patient":"p1","data":{"d":1}}`)
	case 1:
		r.Fault = &Fault{Name: []string{"Declined", "Known", "Timeout", "Boom"}[b>>4%4]}
	case 2:
		r.None = true
	}
	return r
}

func isRejected(err error) bool {
	_, ok := err.(*Rejected)
	return ok
}

// FuzzDecodeState damages pages: the decoder must refuse or accept, never panic,
// and what it accepts must be able to take a step.
func FuzzDecodeState(f *testing.F) {
	programs := transcriptPrograms(f)
	for i, p := range programs {
		r, err := Step(p, nil, 1, Start{Data: startData(p)})
		if err != nil {
			continue
		}
		var packed []byte
		for _, page := range r.State.TakeDirty(nil) {
			packed = binary.AppendUvarint(packed, uint64(page.Frame))
			packed = binary.AppendUvarint(packed, uint64(page.Part))
			packed = binary.AppendUvarint(packed, uint64(len(page.Data)))
			packed = append(packed, page.Data...)
		}
		f.Add(i, packed)
	}
	f.Fuzz(func(t *testing.T, which int, packed []byte) {
		p := programs[uint(which)%uint(len(programs))]
		s, err := DecodeState(p, unpack(packed), nil)
		if err != nil {
			return
		}
		for _, o := range s.Open(p) {
			if s.Status().Final() {
				return
			}
			r, err := Step(p, s, 1<<60, Reply{Ticket: o.Ticket, Value: expr.EmptyObject})
			if err != nil {
				return // a broken invariant is reported, not a panic
			}
			s = r.State
		}
	})
}

func unpack(packed []byte) []Page {
	var pages []Page
	for len(packed) > 0 && len(pages) < 64 {
		var head [3]uint64
		for i := range head {
			u, n := binary.Uvarint(packed)
			if n <= 0 {
				return pages
			}
			head[i], packed = u, packed[n:]
		}
		size := min(head[2], uint64(len(packed)))
		pages = append(pages, Page{Frame: FrameID(head[0]), Part: int32(head[1]), Data: packed[:size]})
		packed = packed[size:]
	}
	return pages
}
