package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// generationRows is how many rows a generation of history or of events has at least before
	// another one is begun ("generation-rows").
	generationRows = 64 << 10
	// generationBatch is how many rows one transaction looks at, and moves at most.
	generationBatch = 1000
	// generationRest is how long nothing must have been moved out of a generation before it is emptied.
	// A transaction that takes longer from its snapshot to reading these tables would miss rows.
	generationRest = 10 * time.Minute

	// housePause is how long nothing is done where nothing was to be done.
	housePause = 5 * time.Second
)

// The rings of generations, as the schema numbers them.
const (
	historyRing = 0
	eventRing   = 1
)

// housekeeping are the numbers above; tests have others.
type housekeeping struct {
	rows, batch int
	rest        time.Duration
	purge       int  // purgeBatch
	quiet       bool // not by itself
}

func (h *housekeeping) defaults() {
	h.rows, h.batch, h.rest = cmp.Or(h.rows, generationRows), cmp.Or(h.batch, generationBatch), cmp.Or(h.rest, generationRest)
	h.purge = cmp.Or(h.purge, purgeBatch)
}

// keepHouse does one step towards giving back the space of what was forgotten, and tells whether
// there was one to do; see the schema (018_generations.sql).
func (db *DB) keepHouse(ctx context.Context, ring int16) (did bool, err error) {
	h := &db.opts.house
	err = db.named(ctx, "SELECT ~.keep_house(p_ring => @ring, p_rows => @rows, p_batch => @batch, p_rest => @rest)",
		pgx.NamedArgs{"ring": ring, "rows": int64(h.rows), "batch": h.batch, "rest": h.rest}, &did)
	return did, err
}

// keepHouseSometimes starts housekeeping in the background, unless this process is doing it or did so
// recently. An error does not matter: this or another node makes up for it later.
func (db *DB) keepHouseSometimes() {
	now := time.Now().UnixNano()
	next := db.house.Load()
	if db.opts.house.quiet || now < next || !db.house.CompareAndSwap(next, never) || db.enter() != nil {
		return
	}
	go func() {
		defer db.flying.Done()
		for _, ring := range []int16{historyRing, eventRing} {
			for db.houseStep(ring) {
			}
		}
		db.house.Store(time.Now().Add(housePause).UnixNano())
	}()
}

// houseStep does one step, then leaves the database to others for as long as that took. It tells
// whether to go on.
func (db *DB) houseStep(ring int16) bool {
	db.mu.Lock()
	closed := db.closed
	db.mu.Unlock()
	if closed {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	begun := time.Now()
	did, err := db.keepHouse(ctx, ring)
	return err == nil && did && sleep(ctx, min(time.Since(begun), maxPause)) == nil
}
