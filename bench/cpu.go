package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTimes is how much processor time each process used; 0 if the system does not report it.
type cpuTimes struct{ nodes, postgres, client, machine time.Duration }

func (t cpuTimes) minus(o cpuTimes) cpuTimes {
	return cpuTimes{t.nodes - o.nodes, t.postgres - o.postgres, t.client - o.client, t.machine - o.machine}
}

// others is what processes outside the measurement used: much of it spoils the figures.
func (t cpuTimes) others() time.Duration {
	return max(0, t.machine-t.nodes-t.postgres-t.client)
}

func seconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}

// tick is the unit in which Linux reports processor times.
const tick = 10 * time.Millisecond

// processInfo is what /proc/PID/stat says.
type processInfo struct {
	name     string
	parent   int
	used     time.Duration
	children time.Duration // that ended and were waited for
}

func processOf(pid int) (p processInfo, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	return parseStat(string(text))
}

// parseStat reads `PID (NAME) STATE PPID …`: NAME may hold anything.
func parseStat(text string) (p processInfo, ok bool) {
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return p, false
	}
	fields := strings.Fields(text[to+1:]) // from the third one on
	if len(fields) < 15 {
		return p, false
	}
	number := func(i int) time.Duration {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		return time.Duration(n)
	}
	p.name, p.parent = text[from+1:to], int(number(1))
	p.used, p.children = tick*(number(11)+number(12)), tick*(number(13)+number(14))
	return p, true
}

func cpuOf(pid int) time.Duration {
	p, _ := processOf(pid)
	return p.used
}

// ownCPU is that of this process, to the microsecond.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuOfFamily is what a process used with its children, living or dead.
func cpuOfFamily(pid int) time.Duration {
	parent, ok := processOf(pid)
	if !ok {
		return 0
	}
	sum := parent.used + parent.children
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range list {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, ok := processOf(child); ok && p.parent == pid {
			sum += p.used
		}
	}
	return sum
}

// machineCPU is what all processes of the machine used, with what the kernel did for them.
func machineCPU() (sum time.Duration) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		// cpu user nice system idle iowait irq softirq steal, and what is in user already
		if i == 0 || i == 4 || i == 5 || i > 7 {
			continue
		}
		n, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}
