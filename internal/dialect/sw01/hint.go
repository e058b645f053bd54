package sw01

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// hinter knows also words of which the case does not matter.
type hinter struct{ dialect.Hinter }

// word finds the word that a text was meant to be, where case does not matter.
func (h *hinter) word(got string, among []string) string {
	lower := make([]string, len(among))
	for i, w := range among {
		lower[i] = strings.ToLower(w)
	}
	near := h.Near(strings.ToLower(got), lower)
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
