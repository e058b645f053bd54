package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

// filler makes random values of any type by its fields, so that a field that is added
// and not written fails the tests.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[expr.Value]() {
		v.Set(reflect.ValueOf(f.value(3)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if f.IntN(4) > 0 {
			v.SetString(fmt.Sprint("text ", f.IntN(1000)))
		}
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		list := []int64{0, 1, -1, math.MaxInt32, math.MinInt32}
		v.SetInt(list[f.IntN(len(list))])
	case reflect.Uint32, reflect.Uint64:
		list := []uint64{0, 1, math.MaxUint32}
		v.SetUint(list[f.IntN(len(list))])
	case reflect.Pointer:
		if f.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Slice:
		n := f.IntN(3)
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default:
		panic("cannot fill " + v.Type().String())
	}
}

func (f filler) value(depth int) expr.Value {
	switch f.IntN(7) {
	case 0:
		return expr.Null
	case 1:
		return expr.Bool(f.IntN(2) == 0)
	case 2:
		return expr.Int(f.Int64())
	case 3:
		v, _ := expr.ParseJSON([]byte("1.50e400"))
		return v
	case 4:
		return expr.String("ä\n")
	}
	if depth == 0 {
		return expr.EmptyObject
	}
	if f.IntN(2) == 0 {
		return expr.Array(f.value(depth-1), f.value(depth-1))
	}
	return expr.Object(expr.Member{Key: "a", Value: f.value(depth - 1)}, expr.Member{Key: "", Value: f.value(depth - 1)})
}

func filled[T any](f filler) (v T) {
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

// forms lists everything with how it is written and read back.
func forms(f filler) []struct {
	name   string
	want   any
	data   []byte
	decode func([]byte) (any, error)
} {
	type row = struct {
		name   string
		want   any
		data   []byte
		decode func([]byte) (any, error)
	}
	in := filled[store.Instance](f)
	kept := in // columns
	kept.ID, kept.Seq, kept.Rev, kept.Definition, kept.Version, kept.Digest = "", 0, 0, "", "", ""
	kept.Status, kept.Created, kept.Updated, kept.Ended, kept.Parent = "", 0, 0, 0, ""
	records, invoke, e, filter := filled[[]core.Record](f), filled[core.Invoke](f), filled[event.Event](f), filled[event.Filter](f)
	fate, gathering := filled[store.Event](f), filled[store.Gathering](f)
	out := []row{
		{"instance", kept, AppendRest(nil, &in), func(b []byte) (any, error) {
			var in store.Instance
			err := DecodeRest(b, &in)
			return in, err
		}},
		{"records", records, AppendRecords(nil, records), func(b []byte) (any, error) { return DecodeRecords(b) }},
		{"call", invoke, AppendInvoke(nil, &invoke), func(b []byte) (any, error) { return DecodeInvoke(b) }},
		{"event", e, AppendEvent(nil, &e), func(b []byte) (any, error) { return DecodeEvent(b) }},
		{"filter", filter, AppendFilter(nil, &filter), func(b []byte) (any, error) { return DecodeFilter(b) }},
		{"fate", store.Event{For: fate.For, Used: fate.Used, Why: fate.Why}, AppendFate(nil, &fate), func(b []byte) (any, error) {
			var e store.Event
			err := DecodeFate(b, &e)
			return e, err
		}},
		{"gathering", store.Gathering{Keys: gathering.Keys, Events: gathering.Events}, AppendGathering(nil, &gathering), func(b []byte) (any, error) {
			var g store.Gathering
			err := DecodeGathering(b, &g)
			return g, err
		}},
	}
	for _, input := range []core.Input{filled[core.Start](f), filled[core.Reply](f), filled[core.Take](f), filled[core.Control](f), core.Continue{}} {
		out = append(out, row{"input", input, AppendInput(nil, input), func(b []byte) (any, error) { return DecodeInput(b) }})
	}
	return out
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%T %s", v, b)
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		for _, c := range forms(filler{rand.New(rand.NewPCG(seed, 0))}) {
			got, err := c.decode(c.data)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, c.name, err)
			}
			if g, w := text(t, got), text(t, c.want); g != w {
				t.Fatalf("seed %d: %s:\n got %s\nwant %s", seed, c.name, g, w)
			}
		}
	}
}

// TestDamage: what is cut off or altered gives an error or another value.
func TestDamage(t *testing.T) {
	for seed := range uint64(50) {
		f := filler{rand.New(rand.NewPCG(seed, 1))}
		for _, c := range forms(f) {
			for cut := range len(c.data) {
				if _, err := c.decode(c.data[:cut]); err == nil {
					t.Fatalf("seed %d: %s of %d bytes is read from %d", seed, c.name, len(c.data), cut)
				}
			}
			if _, err := c.decode(append([]byte{form + 1}, c.data[1:]...)); err == nil {
				t.Fatalf("%s of another form is read", c.name)
			}
			if _, err := c.decode(append(c.data[:len(c.data):len(c.data)], 0)); err == nil {
				t.Fatalf("%s is read with a byte too many", c.name)
			}
			for range 50 {
				bad := append([]byte(nil), c.data...)
				bad[f.IntN(len(bad))] ^= byte(1 << f.IntN(8))
				_, _ = c.decode(bad)
			}
		}
	}
}

func TestDeepFault(t *testing.T) {
	v := expr.EmptyObject
	for range 5 * expr.MaxDepth {
		v = expr.Array(v)
	}
	in := store.Instance{Fault: &core.Fault{Name: "F", Data: v}}
	var got store.Instance
	if err := DecodeRest(AppendRest(nil, &in), &got); err != nil || !expr.Equal(got.Fault.Data, v) {
		t.Errorf("%v", err)
	}
}

func TestStatusCodes(t *testing.T) {
	for code := int64(1); code <= MaxStatus; code++ {
		if got, ok := StatusCode(StatusOf(code)); !ok || got != code {
			t.Errorf("%d becomes %d", code, got)
		}
	}
	if StatusOf(0) != "" || StatusOf(MaxStatus+1) != "" {
		t.Error("there are more")
	}
	if _, ok := StatusCode("unheard of"); ok {
		t.Error("a status that does not exist has a code")
	}
}

func FuzzDecode(f *testing.F) {
	for seed := range uint64(5) {
		for i, c := range forms(filler{rand.New(rand.NewPCG(seed, 2))}) {
			f.Add(byte(i), c.data)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		list := forms(filler{rand.New(rand.NewPCG(0, 0))})
		c := list[int(which)%len(list)]
		v, err := c.decode(data)
		if err == nil && v == nil {
			t.Fatal("nothing is read")
		}
	})
}
