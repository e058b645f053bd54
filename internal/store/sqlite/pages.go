package sqlite

import (
	"cmp"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// inRowBytes is how many bytes of pages a row of an instance holds. Most states are small all their time: they are written
// with the row, and no table of pages is touched. One that grew beyond is in the tables from then on.
const inRowBytes = 1 << 10

// mergePages gives an instance its changed pages. It returns those that are to be written to the tables. A state that cannot be
// read stays as it is, so that readers are told, until a commit removes its first page: then all of it goes.
func (t *tx) mergePages(h *head, changed []core.Page) (apart []core.Page, err error) {
	if !h.inRow {
		return changed, nil
	}
	if len(changed) == 0 && h.pages != nil {
		return nil, nil
	}
	list := t.pages[:0]
	if h.pages != nil {
		list, err = codec.DecodeState(list, h.pages, h.id, core.Time(h.created))
		if err != nil && !slices.ContainsFunc(changed, func(p core.Page) bool { return p.Frame == 0 && p.Part == 0 && p.Data == nil }) {
			return nil, err
		}
	}
	size := 0
	for _, p := range changed {
		at, there := slices.BinarySearchFunc(list, p, comparePages)
		switch {
		case p.Data == nil && there:
			list = slices.Delete(list, at, at+1)
		case p.Data == nil:
		case there:
			list[at] = p
		default:
			list = slices.Insert(list, at, p)
		}
	}
	for _, p := range list {
		size += len(p.Data)
	}
	if size > inRowBytes {
		h.inRow, h.pages = false, nil
		return list, nil
	}
	t.state = codec.AppendState(t.state[:0], h.id, core.Time(h.created), list)
	h.pages = append(h.pages[:0], t.state...) // the list may be in the same memory
	clear(list)
	t.pages = list
	return nil, nil
}

func comparePages(a, b core.Page) int {
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Part, b.Part))
}

// putPages writes pages to their tables; those without data go.
func (t *tx) putPages(sp *space, h *head, list []core.Page) error {
	for i := range list {
		p := &list[i]
		remove, put := "DELETE FROM pages WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO pages (ns, inst, frame, part, data) VALUES (?, ?, ?, ?, ?)"
		if p.Part < 0 {
			remove, put = "DELETE FROM bulk WHERE ns = ? AND inst = ? AND frame = ? AND part = ?", "INSERT OR REPLACE INTO bulk (ns, inst, frame, part, data) VALUES (?, ?, ?, ?, ?)"
		}
		var err error
		if p.Data == nil {
			_, err = t.exec(remove, sp.ns, h.seq, int64(p.Frame), int64(p.Part))
		} else {
			_, err = t.exec(put, sp.ns, h.seq, int64(p.Frame), int64(p.Part), codec.AppendPage(nil, h.id, core.Time(h.created), p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
