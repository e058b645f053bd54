package admit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func take(t *testing.T, p *Pool, who Holder, n int64) *Place {
	t.Helper()
	place, err := p.Take(who, n)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func wantFull(t *testing.T, err error, share bool) {
	t.Helper()
	var full *FullError
	if !errors.As(err, &full) || full.Share != share || full.Limit != "places" {
		t.Errorf("%v, want that of the share: %v", err, share)
	}
}

func TestShares(t *testing.T) {
	p := NewPool("places", Size{All: 16, Device: 3})
	a, b, device := Holder{Key: "a"}, Holder{Key: "b"}, Holder{"d", true}
	first := take(t, p, a, 4)
	_, err := p.Take(a, 1)
	wantFull(t, err, true)
	wantFull(t, first.Grow(1), true)
	take(t, p, device, 3)
	_, err = p.Take(device, 1)
	wantFull(t, err, true)
	_, err = p.Take(b, 9)
	wantFull(t, err, true)
	take(t, p, b, 8) // more than a share, but the only one
	take(t, p, Holder{Key: "c"}, 1)
	_, err = p.Take(Holder{Key: "c"}, 1)
	wantFull(t, err, false)
	first.Shrink(1)
	take(t, p, Holder{Key: "c"}, 1).Release()
	first.Release()
	first.Release()
	if p.Used() != 12 {
		t.Errorf("%d are used", p.Used())
	}
	for all, share := range map[int64]int64{1: 1, 2: 2, 4: 2, 100: 25} {
		if got := (Size{All: all}).withDefaults(); got.Share != share || got.Device != share {
			t.Errorf("of %d: %+v", all, got)
		}
	}
}

// TestWhoHasLessIsServedFirst: one that asks for much does not hold up one that asks for
// little, in whatever order they came.
func TestWhoHasLessIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool("places", Size{All: 2, Share: 2})
		greedy, modest := Holder{Key: "greedy"}, Holder{Key: "modest"}
		held := []*Place{take(t, p, greedy, 1), take(t, p, greedy, 1)}
		served := make(chan string, 3)
		wait := func(who Holder) {
			if _, err := p.Wait(t.Context(), who, 1); err == nil {
				served <- who.Key
			}
		}
		go wait(greedy)
		synctest.Wait()
		go wait(greedy)
		synctest.Wait()
		go wait(modest)
		synctest.Wait()
		held[0].Release()
		if got := <-served; got != "modest" {
			t.Errorf("%s is served first", got)
		}
		held[1].Release()
		if got := <-served; got != "greedy" {
			t.Errorf("%s is served then", got)
		}
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Wait(within, modest, 1)
		wantFull(t, err, false)
		if len(p.queue) != 1 {
			t.Errorf("%d wait", len(p.queue))
		}
		p.held = map[string]int64{}
		p.used = 0
		p.mu.Lock()
		p.serve() // the last one goes
		p.mu.Unlock()
		<-served
	})
}

// TestGivenToWhoLeaves: a place that is given at the moment at which the time of who waits for
// it ends is that one's, and not lost.
func TestGivenToWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool("places", Size{All: 1})
		first := take(t, p, Holder{Key: "a"}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan *Place)
		go func() {
			place, err := p.Wait(ctx, Holder{Key: "b"}, 1)
			if err != nil {
				t.Error(err)
			}
			got <- place
		}()
		synctest.Wait()
		p.mu.Lock() // as Release does, in between
		cancel()
		first.n, p.used = 0, 0
		delete(p.held, "a")
		p.serve()
		p.mu.Unlock()
		(<-got).Release()
		if p.Used() != 0 {
			t.Errorf("%d are used", p.Used())
		}
	})
}

// TestPoolsAddUp does whatever comes: nobody gets more than there is, or more than a share
// beside another, and in the end all of it is there.
func TestPoolsAddUp(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := NewPool("places", Size{All: 40, Device: 5})
		var places []*Place
		for range 500 {
			who := Holder{fmt.Sprint(random.IntN(6)), false}
			who.Device = who.Key < "3"
			switch n := random.Int64N(6); random.IntN(4) {
			case 0, 1:
				if place, err := p.Take(who, n); err == nil {
					places = append(places, place)
				}
			case 2:
				if len(places) > 0 {
					_ = places[random.IntN(len(places))].Grow(n)
				}
			default:
				if len(places) > 0 {
					places[random.IntN(len(places))].Shrink(n)
				}
			}
			sums, all := map[string]int64{}, int64(0)
			for _, place := range places {
				sums[place.who.Key] += place.n
				all += place.n
			}
			if all != p.Used() || all > 40 {
				t.Fatalf("seed %d: %d are held, %d counted", seed, all, p.Used())
			}
			for key, n := range sums {
				if most := map[bool]int64{true: 5, false: 10}[key < "3"]; n > most || n != p.held[key] {
					t.Fatalf("seed %d: %q holds %d of %d (counted %d)", seed, key, n, most, p.held[key])
				}
			}
		}
		for _, place := range places {
			place.Release()
		}
		if p.Used() != 0 || len(p.held) != 0 {
			t.Fatalf("seed %d: %d are left, %v", seed, p.Used(), p.held)
		}
	}
}
