package codec

import "github.com/lockstep-workflows/lockstep/core"

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
	recAll
)

// AppendRecords appends the records of a commit.
func AppendRecords(dst []byte, list []core.Record) []byte {
	w := begin(dst)
	w.uint(uint64(len(list)))
	last := core.Time(0)
	for i := range list {
		r := &list[i]
		w.record(r, last)
		last = r.Time
	}
	return w.buf
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
			w.value(r.Data)
		case recFault:
			w.fault(r.Fault)
		case recText:
			w.text(r.Text)
		case recStatus:
			w.word(statuses, string(r.Status))
		}
	}
}

// DecodeRecords is the reverse of AppendRecords.
func DecodeRecords(data []byte) ([]core.Record, error) {
	r := open(data)
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
			rec.Data = r.value()
		case recHasData:
			rec.HasData = true
		case recFault:
			rec.Fault = r.fault()
		case recText:
			rec.Text = r.text()
		case recStatus:
			rec.Status = core.Status(r.word(statuses))
		}
	}
	return rec
}
