package memory

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// needs fails where there is no content with a digest.
func (s *Store) needs(definition, digest string) error {
	if _, ok := s.contents[digest]; ok || digest == "" {
		return nil
	}
	return &store.NoContentError{Definition: definition, Digest: digest}
}

// mayRoute fails where a routing refers to contents that are not there.
func (s *Store) mayRoute(r store.Routing) error {
	for _, n := range r.Start {
		if err := s.needs(n.Instance.Definition, n.Instance.Digest); err != nil {
			return err
		}
	}
	for _, g := range r.Gather {
		if err := s.needs(g.Definition, g.Digest); err != nil {
			return err
		}
	}
	return nil
}

// collect stores a gathering. Where another content is the current one of its definition,
// its time is up.
func (s *Store) collect(g store.Gathering) {
	s.drop(g.Seq)
	if now := s.current[g.Definition]; now != nil && now.row.Digest != g.Digest {
		g.Until = 0
	}
	s.gatherings[g.Seq] = g
	s.expiries.add(expiry{g.Until, g.Seq})
	key := gatheringKey{g.Definition, g.Digest, g.Key}
	if s.gathered[key] == nil {
		list := sortedBy(func(seq int64) int64 { return seq })
		s.gathered[key] = &list
	}
	s.gathered[key].add(g.Seq)
}

// drop forgets a gathering.
func (s *Store) drop(seq int64) {
	g, ok := s.gatherings[seq]
	if !ok {
		return
	}
	s.expiries.remove(expiry{g.Until, seq})
	delete(s.gatherings, seq)
	key := gatheringKey{g.Definition, g.Digest, g.Key}
	if s.gathered[key].remove(seq); s.gathered[key].size == 0 {
		delete(s.gathered, key)
	}
}

// supersede ends the gatherings of a definition that are of another content than the
// current one; "": of any.
func (s *Store) supersede(definition, digest string) {
	for seq, g := range s.gatherings {
		if g.Definition != definition || g.Digest == digest {
			continue
		}
		s.expiries.remove(expiry{g.Until, seq})
		g.Until = 0
		s.gatherings[seq] = g
		s.expiries.add(expiry{0, seq})
	}
}

func (view) Damaged() error { return nil }

func (v view) Gatherings(definition, digest, key string) []store.Gathering {
	var seqs []int64
	for _, key := range slices.Compact([]string{"", key}) {
		if list := v.s.gathered[gatheringKey{definition, digest, key}]; list != nil {
			seqs = append(seqs, list.head(list.size)...)
		}
	}
	slices.Sort(seqs)
	var out []store.Gathering
	for _, seq := range seqs {
		out = append(out, v.s.gatherings[seq])
	}
	return out
}
