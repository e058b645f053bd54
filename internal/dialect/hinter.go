package dialect

import (
	"slices"
	"strings"
)

// Hinter finds what misspelt names were meant to be, within a budget for the
// whole definition: one with thousands of mistakes is not worth minutes.
type Hinter struct {
	Spent int // of MaxHinting
}

// MaxHinting bounds the letters compared with letters.
const MaxHinting = 20_000_000

// Near returns the candidate nearest to a name, "" where none is near or the
// budget is used up.
func (h *Hinter) Near(got string, among []string) string {
	for _, c := range among {
		if h.Spent += 1 + len(got)*len(c); h.Spent > MaxHinting {
			return ""
		}
	}
	return Suggest(got, among)
}

// DidYouMean adds the hint, if there is one, and returns the name in it.
func (h *Hinter) DidYouMean(d *Diagnostic, got string, among []string) string {
	near := h.Near(got, among)
	if near != "" {
		d.WithHint("did you mean %q?", near)
	}
	return near
}

// MeantOneOf hints at the word that was meant, whatever its case, or else lists all
// words. It returns the word that was meant, "" if none is near.
func (h *Hinter) MeantOneOf(d *Diagnostic, got string, among []string) string {
	lower := make([]string, len(among))
	for i, word := range among {
		lower[i] = strings.ToLower(word)
	}
	got = strings.ToLower(got)
	at := slices.Index(lower, got)
	if at < 0 {
		at = slices.Index(lower, h.Near(got, lower))
	}
	if at < 0 {
		d.WithHint("one of %s", strings.Join(among, ", "))
		return ""
	}
	d.WithHint("did you mean %q?", among[at])
	return among[at]
}
