package codec

import "github.com/lockstep-workflows/lockstep/internal/store"

// Commit is a commit with its values encoded. Each list is in the order of the commit's.
type Commit struct {
	Records  []byte   // nil: none
	Pages    [][]byte // nil: the page goes
	Calls    [][]byte
	Emits    [][]byte
	Filters  [][]byte
	Starts   [][]byte // of the children
	Messages [][]byte
	Bytes    int // of all of them
}

// EncodeCommit encodes the values of a commit.
func EncodeCommit(c *store.Commit) (out Commit) {
	in := &c.Instance
	add := func(list *[][]byte, data []byte) {
		*list = append(*list, data)
		out.Bytes += len(data)
	}
	if len(c.Records) > 0 {
		out.Records = AppendRecords(nil, Told{Instance: in.ID, At: in.Updated, Status: in.Status}, c.Records)
		out.Bytes = len(out.Records)
	}
	for i := range c.Pages {
		var data []byte
		if c.Pages[i].Data != nil {
			data = AppendPage(nil, in.ID, in.Created, &c.Pages[i])
		}
		add(&out.Pages, data)
	}
	for i := range c.Calls {
		add(&out.Calls, AppendInvoke(nil, in.ID, in.Created, &c.Calls[i]))
	}
	for i := range c.Emits {
		add(&out.Emits, AppendEmit(nil, in.ID, &c.Emits[i]))
	}
	for i := range c.Subscribe {
		add(&out.Filters, AppendFilter(nil, in.ID, &c.Subscribe[i]))
	}
	for i := range c.Children {
		add(&out.Starts, EncodeStart(&c.Children[i]))
	}
	for i := range c.Messages {
		add(&out.Messages, AppendInput(nil, &c.Messages[i]))
	}
	return out
}

// EncodeStart encodes the first message of a new instance.
func EncodeStart(n *store.NewInstance) []byte {
	return AppendInput(nil, &store.Message{To: n.Instance.ID, At: n.Instance.Created, Input: n.Start})
}
