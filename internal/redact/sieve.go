package redact

import "strings"

// finder replaces texts by others. Most of what it is given has none of them in it: a sieve finds
// that out ten times as fast as [strings.Replacer] does.
type finder struct {
	sieve    *sieve
	replacer *strings.Replacer
}

// newFinder takes pairs of texts; of two that match at the same place, the first wins.
func newFinder(pairs []string) finder {
	var texts []string
	for i := 0; i < len(pairs); i += 2 {
		texts = append(texts, pairs[i])
	}
	return finder{newSieve(texts), strings.NewReplacer(pairs...)}
}

func (f finder) replace(text string) string {
	if !f.sieve.holds(text) {
		return text
	}
	return f.replacer.Replace(text)
}

// block is how many bytes a sieve looks at. It is less than every text is long ([MinText]).
const block = 3

// sieve knows how far it can jump when it has seen three bytes, as Wu and Manber do in "A fast
// algorithm for multi-pattern searching" (1994).
type sieve struct {
	width    int // of the shortest text: the beginnings of all are this long
	jumps    [1 << 15]uint8
	prefixes map[string]struct{}
}

func newSieve(texts []string) *sieve {
	s := &sieve{width: 255, prefixes: map[string]struct{}{}}
	for _, text := range texts {
		s.width = min(s.width, len(text))
	}
	far := uint8(s.width - block + 1)
	for i := range s.jumps {
		s.jumps[i] = far
	}
	for _, text := range texts {
		s.prefixes[text[:s.width]] = struct{}{}
		for i := range s.width - block + 1 {
			jump := &s.jumps[hash(text, i)]
			*jump = min(*jump, uint8(s.width-block-i))
		}
	}
	return s
}

func hash(text string, at int) uint32 {
	v := uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16
	return v * 2654435761 >> 17
}

// holds reports whether one of the texts may be in text. Where it is not sure, it says so.
func (s *sieve) holds(text string) bool {
	for at := s.width - block; at+block <= len(text); {
		jump := s.jumps[hash(text, at)]
		if jump > 0 {
			at += int(jump)
			continue
		}
		begin := at - (s.width - block)
		if _, ok := s.prefixes[text[begin:begin+s.width]]; ok {
			return true
		}
		at++
	}
	return false
}
