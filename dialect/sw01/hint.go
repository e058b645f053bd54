package sw01

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/dialect"
)

// hinter finds what misspelt names were meant to be, within a budget for the
// whole definition: one with thousands of mistakes is not worth minutes.
type hinter struct{ spent int }

// maxHinting bounds the letters compared with letters.
const maxHinting = 20_000_000

// near returns the candidate nearest to a name, "" where none is near or the
// budget is used up.
func (h *hinter) near(got string, among []string) string {
	for _, c := range among {
		if h.spent += 1 + len(got)*len(c); h.spent > maxHinting {
			return ""
		}
	}
	return dialect.Suggest(got, among)
}

// didYouMean adds the hint, if there is one, and returns the name in it.
func (h *hinter) didYouMean(d *dialect.Diagnostic, got string, among []string) string {
	near := h.near(got, among)
	if near != "" {
		d.WithHint("did you mean %q?", near)
	}
	return near
}

// word finds the word that a text was meant to be, where case does not matter.
func (h *hinter) word(got string, among []string) string {
	lower := make([]string, len(among))
	for i, w := range among {
		lower[i] = strings.ToLower(w)
	}
	near := h.near(strings.ToLower(got), lower)
	if i := slices.Index(lower, near); i >= 0 {
		return among[i]
	}
	if i := slices.Index(lower, strings.ToLower(got)); i >= 0 {
		return among[i]
	}
	return ""
}

// oneOf hints at the word that was meant, or at all there are.
func (h *hinter) oneOf(d *dialect.Diagnostic, got string, among []string) string {
	near := h.word(got, among)
	if near != "" {
		d.WithHint("did you mean %q?", near)
	} else {
		d.WithHint("one of %s", strings.Join(among, ", "))
	}
	return near
}
