package admit

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemory(t *testing.T) {
	var live, used uint64
	m := MemoryFrom(1000, func() (uint64, uint64) { return live, used })
	for _, c := range []struct {
		live, used  uint64
		tight, over bool
	}{{0, 0, false, false}, {500, 1000, false, false}, {501, 800, true, false}, {750, 1000, true, false}, {751, 800, true, true}, {100, 1001, true, false}, {100, 200, false, false}} {
		live, used = c.live, c.used
		if m.Tight() != c.tight || m.Over() != c.over || m.Used() != int64(c.used) {
			t.Errorf("live %d, used %d: tight is %v, over is %v", c.live, c.used, m.Tight(), m.Over())
		}
	}
	live = 1 << 60
	if none := MemoryFrom(0, func() (uint64, uint64) { return live, live }); none.Over() || none.Tight() {
		t.Error("no limit is reached")
	}
	kept := make([]byte, 64<<20)
	if m := NewMemory(1 << 40); m.Used() < int64(len(kept)) || m.Over() {
		t.Errorf("%d bytes are in use", m.Used())
	}
	kept[0] = 1
}

// TestMemoryIsCollected: what is live is known from the last collection. Where that is old, and
// said that memory is short, there is another; where the runtime collects by itself, or there
// is enough, there is none.
func TestMemoryIsCollected(t *testing.T) {
	for name, c := range map[string]struct {
		live    uint64
		changes bool // the runtime collects by itself
		want    int64
	}{"short": {760, false, 1}, "tight": {510, false, 1}, "enough": {490, false, 0}, "collected": {760, true, 0}} {
		synctest.Test(t, func(t *testing.T) {
			m := NewMemory(1000)
			var live atomic.Uint64
			var collected atomic.Int64
			live.Store(c.live)
			m.read = func() (uint64, uint64) {
				if c.changes {
					live.Add(1)
				}
				return live.Load(), 900
			}
			collect := m.collect
			m.collect = func() { collect(); collected.Add(1); live.Store(100) }
			for range 100 {
				m.Over()
				<-time.After(100 * time.Millisecond)
			}
			synctest.Wait()
			if n := collected.Load(); n != c.want || n > 0 && (m.Over() || m.Tight()) {
				t.Errorf("%s: collected %d times, tight %v, over %v", name, n, m.Tight(), m.Over())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a collection that takes long, of what stays
		m := NewMemory(1000)
		m.read = func() (uint64, uint64) { return 800, 900 }
		var collected atomic.Int64
		m.collect = func() { collected.Add(1); <-time.After(time.Second) }
		for range 1000 {
			m.Over()
			<-time.After(100 * time.Millisecond)
		}
		synctest.Wait()
		if n := collected.Load(); n < 3 || n > 6 {
			t.Errorf("collected %d times in 100 s, for a second each", n)
		}
	})
}

// TestControlGroups reads what systems tell, of which this one is one.
func TestControlGroups(t *testing.T) {
	const meminfo = "MemTotal:       1000000 kB\nMemFree: 5 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none":            {map[string]string{}, 0},
		"version 2":       {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "5000\n", "sys/fs/cgroup/memory.max": "9000\n"}, 5000},
		"in a container":  {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "7000\n"}, 7000},
		"version 1":       {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "6000\n"}, 6000},
		"1 without limit": {map[string]string{"proc/self/cgroup": "4:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
	} {
		root := t.TempDir()
		c.files["proc/meminfo"] = meminfo
		for file, text := range c.files {
			at := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupLimit(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got := machineMemory(root); got != 1_000_000<<10 {
			t.Errorf("%s: the machine has %d", name, got)
		}
	}
	if runtime.GOOS == "linux" && DefaultLimit() <= 0 {
		t.Error("this machine has no memory")
	}
}
