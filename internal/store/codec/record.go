package codec

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Bits that say which fields of a record follow, in this order. They are stored: only
// append.
const (
	recFrame = 1 << iota
	recDepth
	recNode
	recPos
	recName
	recTicket
	recAttempt
	recAt
	recData // there is a value
	recHasData
	recFault
	recText
	recStatus
	recItem
	recAll
)

// Told is the row of history that records are in.
type Told struct {
	Instance string
	At       core.Time
	Status   core.Status
	Total    int64 // how many records the history has up to here; it is needed to read chunks
}

func (t *Told) owner() owner {
	return owner{kind: kindRecords, texts: [6]string{t.Instance, string(t.Status)}, numbers: [4]int64{int64(t.At)}}
}

// deletionOwner is any instance that is deleted at a time: PostgreSQL alone knows which they are, and
// writes the same record for each.
func deletionOwner(at core.Time) owner {
	return owner{kind: kindDeletion, numbers: [4]int64{int64(at)}}
}

// AppendRecords appends the records of a commit, with its chunks.
func AppendRecords(dst []byte, of Told, list []core.Record, chunks *core.Chunks) []byte {
	w := begin(dst)
	if w.chunks = chunks; chunks != nil {
		w.fresh = chunks.Fresh
	}
	w.records(list)
	return w.end(of.owner())
}

// AppendDeletion appends the record of a deletion.
func AppendDeletion(dst []byte, d store.Deletion) []byte {
	w := begin(dst)
	w.records([]core.Record{d.Record()})
	return w.end(deletionOwner(d.At))
}

func (w *writer) records(list []core.Record) {
	w.uint(uint64(len(list)))
	last := core.Time(0)
	for i := range list {
		r := &list[i]
		w.record(r, last)
		last = r.Time
	}
}

func (w *writer) record(r *core.Record, last core.Time) {
	bits := uint64(0)
	set := func(bit uint64, there bool) {
		if there {
			bits |= bit
		}
	}
	set(recFrame, r.Frame != 0)
	set(recDepth, r.Depth != 0)
	set(recNode, r.Node != "")
	set(recPos, r.Pos.Line != 0 || r.Pos.Column != 0)
	set(recName, r.Name != "")
	set(recTicket, r.Ticket != 0)
	set(recAttempt, r.Attempt != 0)
	set(recAt, r.At != 0)
	set(recData, !r.Data.IsNull())
	set(recHasData, r.HasData)
	set(recFault, r.Fault != nil)
	set(recText, r.Text != "")
	set(recStatus, r.Status != "")
	set(recItem, r.Item != 0)
	w.uint(bits)
	w.word(recordTypes, string(r.Type))
	w.int(int64(r.Time - last)) // nearly always 0
	for bit := uint64(1); bit < recAll; bit <<= 1 {
		if bits&bit == 0 {
			continue
		}
		switch bit {
		case recFrame:
			w.uint(uint64(r.Frame))
		case recDepth:
			w.int(int64(r.Depth))
		case recNode:
			w.text(r.Node)
		case recPos:
			w.pos(r.Pos)
		case recName:
			w.text(r.Name)
		case recTicket:
			w.uint(uint64(r.Ticket))
		case recAttempt:
			w.int(int64(r.Attempt))
		case recAt:
			w.int(int64(r.At))
		case recData:
			w.large(r.Data)
		case recFault:
			w.fault(r.Fault)
		case recText:
			w.text(r.Text)
		case recStatus:
			w.word(statuses, string(r.Status))
		case recItem:
			w.int(int64(r.Item))
		}
	}
}

// DecodeRecords is the reverse of AppendRecords and AppendDeletion.
func DecodeRecords(data []byte, of Told, source *ChunkSource) ([]core.Record, error) {
	r := open(data, of.owner())
	if r.err != errSum {
		if r.err = r.stored(of); r.err == nil && len(r.fresh) > 0 && source != nil {
			source.note(of, r.fresh)
		}
		r.from(source)
		return r.records()
	}
	r = open(data, deletionOwner(of.At))
	out, err := r.records()
	if err == nil && slices.ContainsFunc(out, func(r core.Record) bool { return r.Type != core.RecDeleted }) {
		return nil, errSum
	}
	return out, err
}

// Unreadable are the records of an item of the feed whose own cannot be read: they say so. The feed
// goes on behind it.
func Unreadable(item store.FeedItem, err error) []core.Record {
	return []core.Record{{Time: item.At, Type: core.RecWarning, Text: fmt.Sprintf("the records of %s at %d are damaged: %v", item.Instance, item.Pos, err)}}
}

func (r *reader) records() ([]core.Record, error) {
	n := r.count()
	var out []core.Record
	last := core.Time(0)
	for i := 0; i < n && r.err == nil; i++ {
		rec := r.record(last)
		last = rec.Time
		out = append(out, rec)
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *reader) record(last core.Time) (rec core.Record) {
	bits := r.uint()
	if bits >= recAll {
		r.fail()
		return rec
	}
	rec.Type = core.RecordType(r.word(recordTypes))
	rec.Time = last + core.Time(r.int())
	for bit := uint64(1); bit < recAll; bit <<= 1 {
		if bits&bit == 0 {
			continue
		}
		switch bit {
		case recFrame:
			rec.Frame = core.FrameID(r.uint())
		case recDepth:
			rec.Depth = int(r.int())
		case recNode:
			rec.Node = r.text()
		case recPos:
			rec.Pos = r.pos()
		case recName:
			rec.Name = r.text()
		case recTicket:
			rec.Ticket = core.Ticket(r.uint())
		case recAttempt:
			rec.Attempt = int(r.int())
		case recAt:
			rec.At = core.Time(r.int())
		case recData:
			rec.Data = r.large()
		case recHasData:
			rec.HasData = true
		case recFault:
			rec.Fault = r.fault()
		case recText:
			rec.Text = r.text()
		case recStatus:
			rec.Status = core.Status(r.word(statuses))
		case recItem:
			rec.Item = int(r.int())
		}
	}
	return rec
}
