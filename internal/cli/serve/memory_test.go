package serve

import (
	"runtime"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for text, want := range map[string]int64{
		"none": 0, "2GiB": 2 << 30, "512MiB": 512 << 20, "512 MiB": 512 << 20, "70000000": 70_000_000, "1TiB": 1 << 40,
		"": -1, "auto": -1, "1KiB": -2, "0": -2, "2GB": -2, "x": -2, "-1GiB": -2, "99999999999TiB": -2, "1.5GiB": -2,
	} {
		got, err := memoryLimit(text)
		switch {
		case want == -2 && err == nil, want != -2 && err != nil, want >= 0 && got != want, want == -1 && runtime.GOOS == "linux" && got < minMemory:
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
