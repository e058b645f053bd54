package sqlite

import (
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// digestKey names a content.
type digestKey struct {
	ns     int64
	digest string
}

// needs fails where there is no content with a digest. The writer remembers those that
// it saw: only undefine takes one away.
func (t *tx) needs(sp *space, definition, digest string) error {
	key := digestKey{sp.ns, digest}
	if digest == "" || t.w.contents[key] {
		return nil
	}
	n, _, err := t.conn.number("SELECT EXISTS (SELECT 1 FROM contents WHERE ns = ? AND digest = ?)", sp.ns, digest)
	if err != nil {
		return err
	}
	if n == 0 {
		return &store.NoContentError{Definition: definition, Digest: digest}
	}
	if t.w.contents == nil || len(t.w.contents) >= maxHeads {
		t.w.contents = map[digestKey]bool{}
	}
	t.w.contents[key] = true
	return nil
}

// mayRoute fails where a routing refers to contents that are not there.
func (t *tx) mayRoute(sp *space, r *store.Routing) error {
	for i := range r.Start {
		if err := t.needs(sp, r.Start[i].Instance.Definition, r.Start[i].Instance.Digest); err != nil {
			return err
		}
	}
	for i := range r.Gather {
		if err := t.needs(sp, r.Gather[i].Definition, r.Gather[i].Digest); err != nil {
			return err
		}
	}
	return nil
}

// gather writes a gathering. Where another content is the current one of its definition,
// its time is up.
func (t *tx) gather(sp *space, g *store.Gathering) error {
	other, _, err := t.conn.number("SELECT EXISTS (SELECT 1 FROM aliases WHERE ns = ? AND id = ? AND current = 1 AND digest <> ?)", sp.ns, g.Definition, g.Digest)
	if err != nil {
		return err
	}
	seq, until := g.Seq, int64(g.Until)
	if other != 0 {
		until = 0
	}
	if seq == 0 {
		if seq, err = t.next(); err != nil {
			return err
		}
	}
	_, err = t.exec("INSERT OR REPLACE INTO gatherings (seq, ns, definition, digest, key, until, rest) VALUES (?, ?, ?, ?, ?, ?, ?)", seq, sp.ns, g.Definition, g.Digest, g.Key, until, codec.AppendGathering(nil, g))
	t.then(sp.gatherings.set)
	return err
}

// supersede ends the gatherings of a definition that are of another content than the
// current one; "": of any.
func (t *tx) supersede(sp *space, definition, digest string) error {
	_, err := t.exec("UPDATE gatherings SET until = 0 WHERE ns = ? AND definition = ? AND digest <> ? AND until <> 0", sp.ns, definition, digest)
	return err
}
