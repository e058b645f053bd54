package expr

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

func TestBinaryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(4).Draw(t, "v")
		data := v.AppendBinary([]byte("head"))
		back, rest, err := DecodeBinary(append(data[4:], 0xfe))
		if err != nil || len(rest) != 1 || back.String() != v.String() {
			t.Fatalf("%s came back as %s, %d left, %v", v, back, len(rest), err)
		}
		checkSorted(t, back)
		for cut := range data[4:] {
			if _, _, err := DecodeBinary(data[4 : 4+cut]); err == nil {
				t.Fatalf("%s: accepted with %d bytes of %d", v, cut, len(data)-4)
			}
		}
	})
}

func TestBinaryKeepsTextThatIsNotUTF8(t *testing.T) {
	v := Object(Member{"\xff", String("\xfe\x00")})
	back, _, err := DecodeBinary(v.AppendBinary(nil))
	if err != nil || !Equal(back, v) {
		t.Fatalf("%q, %v", back, err)
	}
}

// TestWhatIsStoredCanBeRead: data that is built may nest deeper than any that is
// read, and an instance that holds it must not become unreadable.
func TestWhatIsStoredCanBeRead(t *testing.T) {
	v := deep(8 * MaxDepth)
	back, _, err := DecodeBinary(v.AppendBinary(nil))
	if err != nil || back.Depth() != v.Depth() {
		t.Fatal(back.Depth(), err)
	}
}

func TestDecodeBinaryRefuses(t *testing.T) {
	text := func(tag byte, s string) []byte { return appendText([]byte{tag}, s) }
	for name, data := range map[string][]byte{
		"nothing":               {},
		"an unknown tag":        {99},
		"an integer cut off":    {tagInt},
		"an endless integer":    append([]byte{tagInt}, bytes.Repeat([]byte{0x80}, 20)...),
		"a number without text": text(tagDecimal, ""),
		"a malformed number":    text(tagDecimal, "1x"),
		"a length beyond":       {tagString, 5, 'a'},
		"keys out of order":     {tagObject, 2, 1, 'b', tagNull, 1, 'a', tagNull},
		"a key twice":           {tagObject, 2, 1, 'a', tagNull, 1, 'a', tagNull},
		"a count beyond":        {tagArray, 3, tagNull, tagNull},
		"an overflowing count":  append([]byte{tagArray}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"endless nesting":       bytes.Repeat([]byte{tagArray, 1}, 1<<20),
	} {
		if v, _, err := DecodeBinary(data); err == nil {
			t.Errorf("%s: accepted as %.40s", name, v)
		}
	}
}

// TestForgedCountsAllocateLittle: nested arrays that each claim a million items.
func TestForgedCountsAllocateLittle(t *testing.T) {
	head := binary.AppendUvarint([]byte{tagArray}, 1<<20)
	data := append(bytes.Repeat(head, 400), make([]byte, 1<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := DecodeBinary(data); err == nil {
		t.Fatal("accepted")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("allocated %d MiB", used>>20)
	}
}

// FuzzDecodeBinary reads random bytes: no panic, and what is accepted round-trips.
func FuzzDecodeBinary(f *testing.F) {
	for _, v := range shapes() {
		f.Add(v.AppendBinary(nil))
	}
	f.Add(numberOf("12345678901234567890").AppendBinary(nil))
	f.Add(Array(wide(20), String("x"), deep(10)).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, rest, err := DecodeBinary(data)
		if err != nil {
			return
		}
		if len(rest) > len(data) {
			t.Fatal("more is left than there was")
		}
		checkSorted(t, v)
		again, rest, err := DecodeBinary(v.AppendBinary(nil))
		if err != nil || len(rest) != 0 || !Equal(v, again) {
			t.Fatalf("%s came back as %s, %v", v, again, err)
		}
	})
}

func BenchmarkDecodeBinary(b *testing.B) {
	data := Array(wide(100), wide(100), String("text")).AppendBinary(nil)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := DecodeBinary(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	data := Array(wide(100), wide(100), String("text")).AppendJSON(nil)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBinaryRefs(t *testing.T) {
	part := Array(Int(1), String("part"))
	v := Object(Member{"a", part}, Member{"b", Array(part, String("text"))}, Member{"c", String("text")})
	data := v.AppendBinaryRefs(nil, func(v Value) (uint64, bool) { return 300, v.Same(part) })
	if n := bytes.Count(data, []byte("part")); n != 0 {
		t.Errorf("the part is written %d times", n)
	}
	back, rest, err := DecodeBinaryRefs(data, func(n uint64) (Value, bool) { return part, n == 300 })
	if err != nil || len(rest) > 0 || !Equal(back, v) {
		t.Errorf("%s, %v", back, err)
	}
	if _, _, err := DecodeBinaryRefs(data, func(uint64) (Value, bool) { return Null, false }); err == nil {
		t.Error("a reference to nothing is read")
	}
	if _, _, err := DecodeBinary(data); err == nil {
		t.Error("a reference is read where there are none")
	}
	plain := v.AppendBinaryRefs(nil, func(Value) (uint64, bool) { return 0, false })
	if !bytes.Equal(plain, v.AppendBinary(nil)) {
		t.Error("without references it is not as AppendBinary writes it")
	}
}
