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

// Memory tells whether the process uses more memory than it should. It looks at most
// every sampleEvery, at figures that the runtime has at hand: nothing is stopped for it.
//
// What is live, only a collection finds out, and one comes with new garbage. A server that
// refuses what makes garbage would go by an old figure for minutes: where memory is short
// and the figure is older than staleAfter, it collects by itself.
type Memory struct {
	limit   uint64
	read    func() (live, used uint64)
	every   time.Duration
	collect func() // nil: somebody else does

	mu         sync.Mutex
	looked     time.Time
	live       uint64
	used       uint64
	next       time.Time // when live is old
	collecting bool
}

const (
	sampleEvery = 50 * time.Millisecond
	staleAfter  = time.Second
	// collectShare bounds what it costs: of the time, one in so many parts is spent on it.
	collectShare = 20
)

// NewMemory returns the memory of this process under a limit in bytes; with 0 there is none.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: uint64(max(limit, 0)), read: readMemory, every: sampleEvery, collect: runtime.GC}
}

// MemoryFrom is one whose figures somebody else tells: what was live after the last
// collection, and what is in use. They are asked for each time.
func MemoryFrom(limit int64, read func() (live, used uint64)) *Memory {
	return &Memory{limit: uint64(max(limit, 0)), read: read}
}

// Limit is the limit in bytes, 0 where there is none.
func (m *Memory) Limit() int64 { return int64(m.limit) }

// Tight reports whether nothing large should be begun: half of the limit was live after the
// last collection, or all of it is in use, with what is not collected yet.
func (m *Memory) Tight() bool {
	live, used := m.sample()
	return m.limit > 0 && (live > m.limit/2 || used > m.limit)
}

// Over reports whether the limit is reached: three quarters of it were live after the last
// collection, so that the collector would soon do nothing else. What is in use does not count
// here: the collector lets garbage grow up to the limit.
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
		if m.live, m.used = m.read(); m.live != before { // there was a collection
			m.due(staleAfter)
		}
		if m.collect != nil && m.limit > 0 && m.live > m.limit/2 && !m.collecting && !m.looked.Before(m.next) {
			m.collecting = true
			go m.refresh()
		}
	}
	return m.live, m.used
}

// refresh finds out what is live now.
func (m *Memory) refresh() {
	begun := time.Now()
	m.collect()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collecting, m.looked = false, time.Time{} // look again
	m.due(max(staleAfter, collectShare*time.Since(begun)))
}

// due makes the next collection come no sooner than after a while. The caller holds the lock.
func (m *Memory) due(after time.Duration) {
	if at := time.Now().Add(after); at.After(m.next) {
		m.next = at
	}
}

// readMemory is what was live after the last collection, and what is in use now, with
// what is not collected yet. What is free, and only kept for later, does not count.
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

// DefaultLimit is how much memory a process should use at most where nobody says it:
// GOMEMLIMIT, or nine tenths of what its control group allows, or three quarters of the
// machine's memory. 0: none of them is known.
func DefaultLimit() int64 {
	if set := debug.SetMemoryLimit(-1); set != math.MaxInt64 {
		return set
	}
	if n := groupLimit("/"); n > 0 {
		return n / 10 * 9
	}
	return machineMemory("/") / 4 * 3
}

// groupLimit is the least limit of the process's control groups (version 2, or 1).
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
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) { // a group is also under the limits of those above
			if n := bytesIn(path.Join(root, base, at, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if at == "/" {
				break
			}
		}
	}
	if machine := machineMemory(root); machine > 0 && least > machine {
		return 0 // no limit at all, in the words of version 1
	}
	return least
}

// bytesIn reads a number from a file, 0 where there is none.
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

// machineMemory is the memory of the machine, 0 where it is not told.
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
