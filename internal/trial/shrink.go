package trial

// Shrink reduces a failing case. It continues with the first of the smaller cases that fails too, until
// none does or the number of tries is used up.
func Shrink[C any](c C, tries int, smaller func(C) []C, fails func(C) bool) C {
	for tries > 0 {
		found := false
		for _, next := range smaller(c) {
			tries--
			if fails(next) {
				c = next
				found = true
				break
			}
		}
		if !found {
			break
		}
	}
	return c
}
