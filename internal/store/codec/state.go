package codec

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func stateOwner(id string, created core.Time) owner {
	return owner{kind: kindState, texts: [6]string{id}, numbers: [4]int64{int64(created)}}
}

// AppendState appends all pages of an instance as one value, for states that are small.
func AppendState(dst []byte, id string, created core.Time, pages []core.Page) []byte {
	w := begin(dst)
	w.uint(uint64(len(pages)))
	for i := range pages {
		w.uint(uint64(pages[i].Frame))
		w.int(int64(pages[i].Part))
		w.bytes(pages[i].Data)
	}
	return w.end(stateOwner(id, created))
}

// DecodeState is the reverse of AppendState; it appends the pages, which share the memory of data.
func DecodeState(dst []core.Page, data []byte, id string, created core.Time) ([]core.Page, error) {
	r := open(data, stateOwner(id, created))
	n := r.count()
	for i := 0; i < n && r.err == nil; i++ {
		dst = append(dst, core.Page{Frame: core.FrameID(r.uint()), Part: int32(r.int()), Data: r.bytes()})
	}
	if err := r.close(); err != nil {
		return nil, fmt.Errorf("instance %s: its state is %w: %w", id, store.ErrDamaged, err)
	}
	return dst, nil
}
