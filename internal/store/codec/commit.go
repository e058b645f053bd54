package codec

import "github.com/lockstep-workflows/lockstep/internal/store"

// Commit is a commit with its values encoded, all but its pages. Each list is in the order of the commit's.
type Commit struct {
	Records  []byte // nil: none
	Calls    [][]byte
	Emits    [][]byte
	Filters  [][]byte
	Starts   [][]byte // of the children
	Messages [][]byte
	Bytes    int // of all of them

	room []byte
}

// maxShared is up to how many bytes values share one buffer: one that grows is copied.
const maxShared = 16 << 10

// EncodeCommit encodes the values of a commit. They are appended to room where it has some.
func EncodeCommit(room []byte, c *store.Commit) (out Commit) {
	in := &c.Instance
	out.room = room
	if len(c.Records) > 0 {
		out.Records = out.part(AppendRecords(out.next(), Told{Instance: in.ID, At: in.Updated, Status: in.Status}, c.Records, c.Chunks))
	}
	out.Calls = list(len(c.Calls), func(i int) []byte {
		return out.part(AppendInvoke(out.next(), in.ID, in.Created, &c.Calls[i], c.Chunks))
	})
	out.Emits = list(len(c.Emits), func(i int) []byte { return out.part(AppendEmit(out.next(), in.ID, &c.Emits[i])) })
	out.Filters = list(len(c.Subscribe), func(i int) []byte { return out.part(AppendFilter(out.next(), in.ID, &c.Subscribe[i])) })
	out.Starts = list(len(c.Children), func(i int) []byte { return out.part(appendStart(out.next(), &c.Children[i])) })
	out.Messages = list(len(c.Messages), func(i int) []byte { return out.part(AppendInput(out.next(), &c.Messages[i])) })
	return out
}

// next is where the next value is appended.
func (c *Commit) next() []byte {
	if len(c.room) > maxShared {
		c.room = nil
	}
	return c.room
}

// part is what was appended to next.
func (c *Commit) part(grown []byte) []byte {
	from := len(c.room)
	c.room = grown
	c.Bytes += len(grown) - from
	return grown[from:len(grown):len(grown)]
}

// Room is the memory that later values may share once those of this commit are not needed any more.
func (c *Commit) Room() []byte {
	if cap(c.room) > maxShared {
		return nil
	}
	return c.room[:0]
}

func list(n int, encode func(i int) []byte) [][]byte {
	if n == 0 {
		return nil
	}
	out := make([][]byte, n)
	for i := range out {
		out[i] = encode(i)
	}
	return out
}

// EncodeStart encodes the first message of a new instance.
func EncodeStart(n *store.NewInstance) []byte { return appendStart(nil, n) }

func appendStart(dst []byte, n *store.NewInstance) []byte {
	return AppendInput(dst, &store.Message{To: n.Instance.ID, At: n.Instance.Created, Input: n.Start})
}
