package codec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
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

// stored is something with how it is written and read back, and how it is read as that of another.
type stored struct {
	name          string
	want          any
	data          []byte
	decode, other func([]byte) (any, error)
}

// forms lists everything that is stored.
func forms(f filler) []stored {
	in := filled[store.Instance](f)
	kept := in                                      // with its columns, but for the number that the store gives
	kept.Seq, kept.Records, kept.Held = 0, 0, false // columns
	rest := func(change func(*store.Instance)) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			got := store.Instance{
				ID: in.ID, Rev: in.Rev, Definition: in.Definition, Version: in.Version, Digest: in.Digest, Status: in.Status,
				Created: in.Created, Updated: in.Updated, Ended: in.Ended, Parent: in.Parent,
			}
			change(&got)
			err := DecodeRest(b, &got, nil)
			return got, err
		}
	}
	records, told := filled[[]core.Record](f), Told{Instance: "i", At: 5, Status: core.Waiting}
	recordsOf := func(of Told) func([]byte) (any, error) {
		return func(b []byte) (any, error) { return DecodeRecords(b, of, nil) }
	}
	deletion := store.Deletion{At: 5, Actor: "somebody"}
	invoke := store.Call{Invoke: filled[core.Invoke](f), Key: "k"}
	invokeOf := func(id string) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			c := store.Call{Instance: id, Created: 7}
			err := DecodeInvoke(b, &c, nil)
			return store.Call{Invoke: c.Invoke, Key: c.Key}, err
		}
	}
	came := filled[store.Event](f)
	came.Taken = false
	eventOf := func(seq int64) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			e := store.Event{Seq: seq, Received: came.Received, Producer: came.Producer, Origin: came.Origin}
			err := DecodeEvent(b, &e)
			return e.Event, err
		}
	}
	fateOf := func(seq int64) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			e := store.Event{Seq: seq, Until: came.Until}
			err := DecodeFate(b, &e)
			return store.Event{For: e.For, Used: e.Used, Why: e.Why}, err
		}
	}
	emit := filled[store.Emit](f)
	emitOf := func(id string) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			e := store.Emit{Instance: id, Definition: emit.Definition, Sink: emit.Sink}
			err := DecodeEmit(b, &e)
			return e.Event, err
		}
	}
	sub := filled[store.Subscription](f)
	filterOf := func(id string) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			s := store.Subscription{Instance: id, Ticket: sub.Ticket, Name: sub.Name}
			err := DecodeFilter(b, &s)
			return s.Filter, err
		}
	}
	gathering := filled[store.Gathering](f)
	gatheringOf := func(key string) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			g := store.Gathering{Definition: gathering.Definition, Digest: gathering.Digest, Key: key}
			err := DecodeGathering(b, &g)
			return store.Gathering{Keys: g.Keys, Events: g.Events}, err
		}
	}
	page := core.Page{Frame: 3, Part: -1, Data: []byte{form, 2, 3}}
	pageOf := func(frame core.FrameID) func([]byte) (any, error) {
		return func(b []byte) (any, error) {
			p := core.Page{Frame: frame, Part: -1, Data: b}
			err := DecodePage("i", 7, &p)
			return p, err
		}
	}
	state := []core.Page{{Data: []byte{form}}, {Frame: 1, Part: -2, Data: []byte{}}, page}
	stateOf := func(id string) func([]byte) (any, error) {
		return func(b []byte) (any, error) { return DecodeState(nil, b, id, 7) }
	}
	invoke.Attempt &= math.MaxInt // from 1
	out := []stored{
		{"instance", kept, AppendRest(nil, &in, in.Rev, nil), rest(func(*store.Instance) {}), rest(func(in *store.Instance) { in.Updated++ })},
		{"records", records, AppendRecords(nil, told, records, nil), recordsOf(told), recordsOf(Told{Instance: "j", At: 5, Status: core.Waiting})},
		{"deletion", []core.Record{deletion.Record()}, AppendDeletion(nil, deletion), recordsOf(told), recordsOf(Told{Instance: "i", At: 6, Status: core.Waiting})},
		{"call", invoke, AppendInvoke(nil, "i", 7, &invoke, nil), invokeOf("i"), invokeOf("j")},
		{"event", came.Event, SealEvent(AppendEvent(nil, &store.Event{Event: came.Event}), &came), eventOf(came.Seq), eventOf(came.Seq + 1)},
		{"fate", store.Event{For: came.For, Used: came.Used, Why: came.Why}, AppendFate(nil, &came), fateOf(came.Seq), fateOf(came.Seq + 1)},
		{"emit", emit.Event, AppendEmit(nil, "i", &emit), emitOf("i"), emitOf("j")},
		{"filter", sub.Filter, AppendFilter(nil, "i", &sub), filterOf("i"), filterOf("j")},
		{"gathering", store.Gathering{Keys: gathering.Keys, Events: gathering.Events}, AppendGathering(nil, &gathering), gatheringOf(gathering.Key), gatheringOf(gathering.Key + "x")},
		{"page", page, AppendPage(nil, "i", 7, &page), pageOf(3), pageOf(4)},
		{"state", state, AppendState(nil, "i", 7, state), stateOf("i"), stateOf("j")},
	}
	for _, input := range []core.Input{filled[core.Start](f), filled[core.Reply](f), filled[core.Take](f), filled[core.Control](f), core.Continue{}} {
		m := store.Message{To: "i", At: 5, Event: 9, Input: input}
		inputOf := func(to string) func([]byte) (any, error) {
			return func(b []byte) (any, error) {
				m := store.Message{To: to, At: 5, Event: 9}
				err := DecodeInput(b, &m)
				return m.Input, err
			}
		}
		out = append(out, stored{"input", input, AppendInput(nil, &m), inputOf("i"), inputOf("j")})
	}
	return out
}

// TestPageOverhead: the PostgreSQL store has it in a statement.
func TestPageOverhead(t *testing.T) {
	if n := len(AppendPage(nil, "i", 7, &core.Page{Data: make([]byte, 100)})); n != 105 || PageOverhead != 5 {
		t.Error(n)
	}
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

// TestDamage: what is cut off, has a byte more or another bit, or belongs to something else is not
// read.
func TestDamage(t *testing.T) {
	for seed := range uint64(20) {
		f := filler{rand.New(rand.NewPCG(seed, 1))}
		for _, c := range forms(f) {
			refuses := func(what string, decode func([]byte) (any, error), data []byte) {
				t.Helper()
				if v, err := decode(data); !errors.Is(err, store.ErrDamaged) {
					t.Fatalf("seed %d: %s %s: %v, %v", seed, c.name, what, v, err)
				}
			}
			refuses("of another", c.other, c.data)
			refuses("with a byte more", c.decode, append(c.data[:len(c.data):len(c.data)], 0))
			for cut := range len(c.data) {
				refuses(fmt.Sprint("cut at ", cut), c.decode, c.data[:cut])
			}
			for bit := range 8 * len(c.data) {
				bad := slices.Clone(c.data)
				bad[bit/8] ^= 1 << (bit % 8)
				refuses(fmt.Sprint("with another bit ", bit), c.decode, bad)
			}
		}
	}
}

// TestBefore: what was stored before there were checksums is read.
func TestBefore(t *testing.T) {
	for seed := range uint64(50) {
		for _, c := range forms(filler{rand.New(rand.NewPCG(seed, 3))}) {
			before := c.data[1 : len(c.data)-sumSize]
			if c.name != "page" { // the core's own byte leads it
				before = append([]byte{form}, before...)
			}
			for _, decode := range []func([]byte) (any, error){c.decode, c.other} {
				got, err := decode(before)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, c.name, err)
				}
				if g, w := text(t, got), text(t, c.want); g != w && c.name != "page" && c.name != "instance" {
					t.Fatalf("seed %d: %s:\n got %s\nwant %s", seed, c.name, g, w)
				}
			}
			for cut := range len(before) {
				if _, err := c.decode(before[:cut]); err == nil && c.name != "page" {
					t.Fatalf("seed %d: %s of %d bytes is read from %d", seed, c.name, len(before), cut)
				}
			}
		}
	}
}

// TestDamagedDefinition: neither text, program nor source can change, or be another's.
func TestDamagedDefinition(t *testing.T) {
	d := store.Definition{ID: "d", Version: "1", Digest: "x", Program: []byte(`{"edition":3}`), Source: []byte("id: d"), Diagnostics: []byte("[]"), Deployed: 7}
	alias, err := AliasInfo(d)
	if err != nil {
		t.Fatal(err)
	}
	content, err := ContentInfo(d)
	if err != nil {
		t.Fatal(err)
	}
	read := func(alias, content string, program, source, kept []byte) error {
		a, err := DecodeAlias(Alias{"d", "1", "x", alias, source})
		c, other := DecodeContent(Content{"x", content, program}, kept)
		err = cmp.Or(err, other, CheckProgram(Content{"x", content, program}))
		a.Program = d.Program
		if got, want := text(t, []store.Definition{a, c}), text(t, []store.Definition{d, d}); err == nil && got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
		return err
	}
	flips := func(b []byte, each func([]byte)) {
		for bit := range 8 * len(b) {
			bad := slices.Clone(b)
			bad[bit/8] ^= 1 << (bit % 8)
			each(bad)
		}
		each(b[:len(b)-1])
		each(append(slices.Clone(b), 'x'))
	}
	if err := read(alias, content, d.Program, d.Source, d.Source); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	flips(d.Program, func(b []byte) { refused("program", read(alias, content, b, d.Source, d.Source)) })
	flips(d.Source, func(b []byte) {
		refused("source", read(alias, content, d.Program, b, d.Source))
		refused("source of the content", read(alias, content, d.Program, d.Source, b))
	})
	refused("no source", read(alias, content, d.Program, nil, d.Source))
	refused("exchanged", read(content, alias, d.Program, d.Source, d.Source))
	other := d
	other.Digest, other.Program = "y", []byte(`{"edition":4}`)
	others, err := ContentInfo(other)
	if err != nil {
		t.Fatal(err)
	}
	refused("the program of another, with its checksum", CheckProgram(Content{"x", others, other.Program}))
	for at := range 16 {
		bad := func(info string) string {
			at := len(info) - sumsSize + len(sumsLead) + at
			return info[:at] + "g" + info[at+1:]
		}
		refused("no digit in the checksum", read(bad(alias), content, d.Program, d.Source, d.Source))
		refused("no digit in the checksum of the content", read(alias, bad(content), d.Program, d.Source, d.Source))
	}
	// What is wrong with the checksum itself may go unnoticed; what it is of is as it was then.
	flips([]byte(alias), func(b []byte) { _ = read(string(b), content, d.Program, d.Source, d.Source) })
	flips([]byte(content), func(b []byte) { _ = read(alias, string(b), d.Program, d.Source, d.Source) })
	before := func(info string) string { return info[:len(info)-sumsSize] + "}" }
	if err := read(before(alias), before(content), d.Program, d.Source, d.Source); err != nil {
		t.Errorf("without checksums: %v", err)
	}
}

func TestDeepFault(t *testing.T) {
	v := expr.EmptyObject
	for range 5 * expr.MaxDepth {
		v = expr.Array(v)
	}
	in := store.Instance{Fault: &core.Fault{Name: "F", Data: v}}
	var got store.Instance
	if err := DecodeRest(AppendRest(nil, &in, 0, nil), &got, nil); err != nil || !expr.Equal(got.Fault.Data, v) {
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
