package sw01

import "github.com/lockstep-workflows/lockstep/dialect"

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
