package def

import "testing"

func TestOfGit(t *testing.T) {
	for name, want := range map[string]bool{
		"order.yaml": false, ".github/order.yaml": false, "a/.gitignore": false, "git/config": false,
		".git/config": true, "a/.git/hooks/x": true, ".GIT/config": true, ".git. /config": true, "GIT~1/config": true, "a/.git": true,
	} {
		if got := ofGit(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestPlainLines: a terminal obeys nothing in a comparison.
func TestPlainLines(t *testing.T) {
	const text = "--- a\n+\tx\x1b[2J\u009b31m\u202e\r\n+forged\rover\n end"
	if got, want := plainLines(text), "--- a\n+\tx·[2J·31m·\n+forged·over\n end"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
