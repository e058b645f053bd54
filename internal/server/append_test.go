package server

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

// TestInstancesAreWrittenAsJSON: appendInstance writes what encoding/json does, whatever members an instance has.
func TestInstancesAreWrittenAsJSON(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		v := api.Instance{Labels: emptyObject, Allowed: liveVerbs}
		for i := range reflect.TypeFor[api.Instance]().NumField() {
			if rnd.IntN(2) > 0 {
				setRandomly(reflect.ValueOf(&v).Elem().Field(i), rnd)
			}
		}
		want, err := encode(&v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendInstance(nil, &v)
		if string(got)+"\n" != string(want) || err != nil {
			t.Fatalf("seed %d: %s\n%v\nwant %s", seed, got, err, want)
		}
	}
}

// setRandomly sets a value that is not zero, with its parts.
func setRandomly(v reflect.Value, rnd *rand.Rand) {
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		*to = time.Unix(rnd.Int64N(1<<32), rnd.Int64N(3)*500_000_000).UTC()
		return
	case *api.Data:
		*to = fmt.Appendf(nil, `{"<n>":%d,"t":"ü & \"%d\""}`, rnd.Int64(), rnd.IntN(9))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"a", "<ü> & \"\\/", "line\nnext\ttab\x01\x7f", "é 😀\r\\u"}[rnd.IntN(4)])
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rnd.Int64N(1<<40))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*api.Fault]() && rnd.IntN(2) == 0 { // a fault may have others in it
			v.Set(reflect.ValueOf(&api.Fault{Name: "<fault>"}))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		setRandomly(v.Elem(), rnd)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rnd.IntN(2), 2))
		for i := range v.Len() {
			setRandomly(v.Index(i), rnd)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			setRandomly(v.Field(i), rnd)
		}
	}
}
