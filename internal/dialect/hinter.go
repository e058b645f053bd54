package dialect

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
