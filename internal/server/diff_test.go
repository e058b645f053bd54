package server

import (
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"a\n", "a\n", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "--- A\n+++ B\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"", "a\n", "--- A\n+++ B\n@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "--- A\n+++ B\n@@ -1 +0,0 @@\n-a\n"},
		{"a", "a\n", "--- A\n+++ B\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\ny\n12\n",
			"--- A\n+++ B\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -8,5 +8,5 @@\n 8\n 9\n 10\n-11\n+y\n 12\n",
		},
		{"1\n2\n3\n4\n5\n", "0\n1\n2\n4\n5\n6\n", "--- A\n+++ B\n@@ -1,5 +1,6 @@\n+0\n 1\n 2\n-3\n 4\n 5\n+6\n"},
	} {
		if got := unified("A", "B", c.a, c.b); got != c.want {
			t.Errorf("%q, %q:\n%s\nwant\n%s", c.a, c.b, got, c.want)
		}
	}
	long := strings.Repeat("a\n", 3*maxEdits)
	if got := unified("A", "B", long, strings.ReplaceAll(long, "a", "b")); !strings.Contains(got, "-a\n") {
		t.Error("long texts that differ everywhere are not compared")
	}
}
