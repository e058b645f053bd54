package admit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate("quota-device-bytes", "bytes arrive", 1000)
		busy, other := Holder{Key: "client busy", Device: true}, Holder{Key: "client other", Device: true}
		for range 11 { // a burst of ten seconds, and one body more
			if err := r.Check(busy); err != nil {
				t.Fatal(err)
			}
			r.Add(busy, 1000)
		}
		var full *RateError
		if err := r.Check(busy); !errors.As(err, &full) || full.Limit != "quota-device-bytes" || full.Retry != time.Second {
			t.Fatalf("%v %+v", err, full)
		}
		if err := r.Check(other); err != nil {
			t.Errorf("another holder: %v", err)
		}
		time.Sleep(time.Second)
		if err := r.Check(busy); err != nil {
			t.Errorf("after a second: %v", err)
		}
		sent := 0
		for range 100 { // as fast as it can for 100 s
			for r.Check(busy) == nil {
				r.Add(busy, 500)
				sent += 500
			}
			time.Sleep(time.Second)
		}
		if sent > 101_000 {
			t.Errorf("%d bytes in 100 s", sent)
		}
		if r.Refused() == 0 {
			t.Error("refusals are not counted")
		}
	})
}

// TestRateForgets: holders that send no more take no memory for ever.
func TestRateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate("quota-device-bytes", "bytes arrive", 1000)
		for i := range 50 * rateSweep {
			r.Add(Holder{Key: fmt.Sprint(i)}, 1)
			time.Sleep(time.Second)
		}
		if n := len(r.paid); n > rateSweep {
			t.Errorf("%d holders are remembered", n)
		}
	})
}

// TestRateOfTooManyHolders: under however many names somebody sends, it takes bounded memory, and further names share one rate.
func TestRateOfTooManyHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate("quota-credential-bytes", "bytes arrive", 1000)
		for i := range rateHolders + 10 {
			r.Add(Holder{Key: fmt.Sprint("address ", i)}, 1)
		}
		if n := len(r.paid); n > rateHolders+1 {
			t.Errorf("%d holders are remembered", n)
		}
		r.Add(Holder{Key: "one more"}, 20_000)
		if r.Check(Holder{Key: "another one"}) == nil {
			t.Error("a new name sends as if nobody had sent")
		}
		if err := r.Check(Holder{Key: "address 1"}); err != nil {
			t.Errorf("one that was there before: %v", err)
		}
		time.Sleep(30 * time.Second)
		if err := r.Check(Holder{Key: "another one"}); err != nil {
			t.Errorf("later: %v", err)
		}
		r.Add(Holder{Key: strings.Repeat("x", 1<<20)}, 20_000)
		for key := range r.paid {
			if len(key) > rateKey {
				t.Errorf("a key of %d bytes", len(key))
			}
		}
		if r.Check(Holder{Key: strings.Repeat("x", 1<<20)}) == nil || r.Check(Holder{Key: strings.Repeat("x", 1<<20) + "y"}) != nil {
			t.Error("long keys are not kept apart")
		}
	})
}

func TestNoRate(t *testing.T) {
	r := NewRate("quota-device-bytes", "bytes arrive", 0)
	r.Add(Holder{Key: "a"}, 1<<40)
	if err := r.Check(Holder{Key: "a"}); err != nil || r.Refused() != 0 {
		t.Error(err)
	}
}
