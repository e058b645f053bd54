package admit

import (
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Memory reports whether the process uses too much memory. It samples, at most every sampleEvery, metrics that
// the runtime provides without stopping the world.
//
// Only a garbage collection finds out what is live, and garbage triggers one. A server that refuses
// everything that makes garbage would use an old figure for minutes: if memory is short and the figure is
// older than staleAfter, Memory starts a collection itself.
type Memory struct {
	limit   uint64
	read    func() (live, used uint64)
	every   time.Duration
	collect func() // nil: the caller collects

	mu         sync.Mutex
	looked     time.Time
	live       uint64
	used       uint64
	next       time.Time // when live is stale
	collecting bool
}

const (
	sampleEvery = 50 * time.Millisecond
	staleAfter  = time.Second
	// collectShare bounds the cost: at most one part in collectShare of the time is spent on it.
	collectShare = 20
)

// NewMemory returns the memory of this process under a limit in bytes; 0: no limit.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: uint64(max(limit, 0)), read: readMemory, every: sampleEvery, collect: runtime.GC}
}

// MemoryFrom is a Memory that read supplies, every time: what was live after the last collection, and what is
// in use.
func MemoryFrom(limit int64, read func() (live, used uint64)) *Memory {
	return &Memory{limit: uint64(max(limit, 0)), read: read}
}

// Limit is the limit in bytes; 0: none.
func (m *Memory) Limit() int64 { return int64(m.limit) }

// Tight reports whether nothing large should begin: half of the limit was live after the last collection, or
// all of it is in use, including garbage.
func (m *Memory) Tight() bool {
	live, used := m.sample()
	return m.limit > 0 && (live > m.limit/2 || used > m.limit)
}

// Over reports whether the limit is reached: three quarters of it were live after the last collection, so
// that the collector would soon do nothing else. Memory in use does not count here: the collector lets
// garbage grow up to the limit.
func (m *Memory) Over() bool {
	live, _ := m.sample()
	return m.limit > 0 && live > m.limit/4*3
}

// Used is how much memory the process uses.
func (m *Memory) Used() int64 {
	_, used := m.sample()
	return int64(min(used, math.MaxInt64))
}

func (m *Memory) sample() (live, used uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.every == 0 || m.looked.IsZero() || time.Since(m.looked) >= m.every {
		m.looked = time.Now()
		before := m.live
		m.live, m.used = m.read()
		if m.live != before { // there was a collection
			m.due(staleAfter)
		}
		if m.collect != nil && m.limit > 0 && m.live > m.limit/2 && !m.collecting && !m.looked.Before(m.next) {
			m.collecting = true
			go m.refresh()
		}
	}
	return m.live, m.used
}

// refresh collects, to find out what is live now.
func (m *Memory) refresh() {
	begun := time.Now()
	m.collect()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collecting = false
	m.looked = time.Time{} // sample again
	m.due(max(staleAfter, collectShare*time.Since(begun)))
}

// due postpones the next collection. The caller holds the lock.
func (m *Memory) due(after time.Duration) {
	if at := time.Now().Add(after); at.After(m.next) {
		m.next = at
	}
}

// readMemory returns what was live after the last collection, and what is in use now, including garbage.
// Free memory that the runtime keeps does not count.
func readMemory() (live, used uint64) {
	list := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(list)
	n := func(i int) uint64 {
		if list[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return list[i].Value.Uint64()
	}
	return n(0), n(1) - min(n(1), n(2)+n(3))
}

// DefaultLimit is the default memory limit of a process: GOMEMLIMIT, or nine tenths of its control group's
// limit, or three quarters of the machine's memory. 0: none of them is known.
func DefaultLimit() int64 {
	if set := debug.SetMemoryLimit(-1); set != math.MaxInt64 {
		return set
	}
	if n := groupLimit("/"); n > 0 {
		return n / 10 * 9
	}
	return machineMemory("/") / 4 * 3
}

// groupLimit is the lowest limit of the process's control groups (version 2, or 1).
func groupLimit(root string) (least int64) {
	text, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[0] == "0" && parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) { // the limits of parent groups apply, too
			if n := bytesIn(path.Join(root, base, at, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if at == "/" {
				break
			}
		}
	}
	if machine := machineMemory(root); machine > 0 && least > machine {
		return 0 // "no limit" in version 1
	}
	return least
}

// bytesIn reads a number from a file; 0: there is none.
func bytesIn(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return n
}

// machineMemory is the memory of the machine; 0: unknown.
func machineMemory(root string) int64 {
	text, err := os.ReadFile(path.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
