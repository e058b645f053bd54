package event

import "testing"

func FuzzHeader(f *testing.F) {
	f.Add("Euro%20%E2%82%AC")
	f.Add(`"a\"b"`)
	f.Fuzz(func(t *testing.T, s string) {
		value, err := DecodeHeader(s)
		if err != nil {
			return
		}
		if again, err := DecodeHeader(EncodeHeader(value)); err != nil || again != value {
			t.Errorf("%q becomes %q, %v", value, again, err)
		}
	})
}
