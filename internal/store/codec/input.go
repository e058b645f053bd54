package codec

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Tags of inputs. They are stored: never use one again.
const (
	inputStart = iota + 1
	inputReply
	inputTake
	inputControl
	inputContinue
	inputTooExpensive // a Control with that flag
	_                 // a Reply, in versions before the first release
	inputRetryItems   // a Control with that flag
	inputLabelled     // a Start with labels
	inputReplyText    // a Reply with a text
)

func inputOwner(m *store.Message) owner {
	return owner{kind: kindInput, texts: [6]string{m.To}, numbers: [4]int64{int64(m.At), m.Event}}
}

// AppendInput appends the input of a message.
func AppendInput(dst []byte, m *store.Message) []byte {
	w := begin(dst)
	switch in := m.Input.(type) {
	case core.Start:
		if in.Labels.IsNull() {
			w.uint(inputStart)
		} else {
			w.uint(inputLabelled)
			w.value(in.Labels)
		}
		w.value(in.Data)
		w.uint(in.Seed)
		w.uint(uint64(len(in.Events)))
		for _, a := range in.Events {
			w.int(int64(a.Event))
			w.value(a.Value)
		}
	case core.Reply:
		if in.Text == "" {
			w.uint(inputReply)
		} else {
			w.uint(inputReplyText)
			w.text(in.Text)
		}
		w.uint(uint64(in.Ticket))
		w.flag(in.None)
		w.flag(in.Terminate)
		w.flag(in.Fault != nil)
		if in.Fault != nil {
			w.fault(in.Fault)
		}
		w.value(in.Value)
	case core.Take:
		w.uint(inputTake)
		w.text(in.Actor)
		w.text(in.Choice)
		w.value(in.Value)
	case core.Control:
		tag := uint64(inputControl)
		switch {
		case in.Items:
			tag = inputRetryItems
		case in.TooExpensive:
			tag = inputTooExpensive
		}
		if w.uint(tag); in.Items {
			w.flag(in.TooExpensive)
		}
		w.word(verbs, string(in.Verb))
		w.flag(in.HasData)
		w.flag(in.Compensate)
		w.text(in.Actor)
		w.value(in.Data)
	case core.Continue:
		w.uint(inputContinue)
	default:
		panic(fmt.Sprintf("no input: %T", in))
	}
	return w.end(inputOwner(m))
}

// DecodeInput is the reverse of AppendInput, of a message that has its columns.
func DecodeInput(data []byte, m *store.Message) error {
	r := open(data, inputOwner(m))
	var out core.Input
	switch tag := r.uint(); tag {
	case inputStart, inputLabelled:
		var in core.Start
		if tag == inputLabelled {
			in.Labels = r.value()
		}
		in.Data, in.Seed = r.value(), r.uint()
		n := r.count()
		for i := 0; i < n && r.err == nil; i++ {
			in.Events = append(in.Events, core.Arrival{Event: ir.EventID(r.int()), Value: r.value()})
		}
		out = in
	case inputReply, inputReplyText:
		var in core.Reply
		if tag == inputReplyText {
			in.Text = r.text()
		}
		in.Ticket, in.None, in.Terminate = core.Ticket(r.uint()), r.flag(), r.flag()
		if r.flag() {
			in.Fault = r.fault()
		}
		in.Value = r.value()
		out = in
	case inputTake:
		out = core.Take{Actor: r.text(), Choice: r.text(), Value: r.value()}
	case inputControl, inputTooExpensive, inputRetryItems:
		costly := tag == inputTooExpensive || tag == inputRetryItems && r.flag()
		out = core.Control{
			Verb: core.Verb(r.word(verbs)), HasData: r.flag(), Compensate: r.flag(), Actor: r.text(), Data: r.value(),
			TooExpensive: costly, Items: tag == inputRetryItems,
		}
	case inputContinue:
		out = core.Continue{}
	default:
		r.fail()
	}
	if err := r.close(); err != nil {
		return err
	}
	m.Input = out
	return nil
}

func invokeOwner(id string, created core.Time) owner {
	return owner{kind: kindInvoke, texts: [6]string{id}, numbers: [4]int64{int64(created)}}
}

// AppendInvoke appends a call of an instance, which is identified by its id and time of creation. Its arguments
// may be a chunk of the same commit.
func AppendInvoke(dst []byte, id string, created core.Time, c *store.Call, chunks *core.Chunks) []byte {
	w := begin(dst)
	w.chunks = chunks
	if c.Key != "" {
		w.uint(0) // which no ticket is
		w.text(c.Key)
	}
	w.uint(uint64(c.Ticket))
	if c.Deadline == 0 {
		w.int(int64(c.Attempt))
	} else { // calls without a deadline are written as they always were
		w.int(^int64(c.Attempt))
		w.int(int64(c.Deadline))
	}
	w.text(c.Node)
	f := &c.Function
	w.text(f.Name)
	w.text(f.Type)
	w.text(f.Operation)
	w.int(int64(f.Resource))
	w.text(f.Metadata)
	w.pos(f.Pos)
	w.large(c.Args)
	return w.end(invokeOwner(id, created))
}

// DecodeInvoke is the reverse of AppendInvoke, of a call that has its columns.
func DecodeInvoke(data []byte, call *store.Call, source *ChunkSource) error {
	r := open(data, invokeOwner(call.Instance, call.Created))
	r.from(source)
	ticket := r.uint()
	if ticket == 0 {
		call.Key, ticket = r.text(), r.uint()
	}
	c := core.Invoke{Ticket: core.Ticket(ticket), Attempt: int(r.int())}
	if c.Attempt < 0 {
		c.Attempt, c.Deadline = ^c.Attempt, core.Time(r.int())
	}
	c.Node = r.text()
	c.Function = ir.Function{
		Name: r.text(), Type: r.text(), Operation: r.text(), Resource: int(r.int()), Metadata: r.text(), Pos: r.pos(),
	}
	c.Args = r.large()
	call.Invoke = c
	return r.close()
}
