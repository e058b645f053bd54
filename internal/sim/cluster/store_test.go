package cluster

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestDatabase: the store of the simulation does what every store does.
func TestDatabase(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		return NewDatabase(time.Now, time.Second).Connect("node", direct{time.Now})
	})
}
