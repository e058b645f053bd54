package engine

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// latest is the highest version of a definition, as long as Engine.aliases is the same.
type latest struct {
	version string
	aliases int64
}

// findLatest returns the definition with the highest semantic version of an id. Of equal ones, and of
// those that are no semantic versions, it is the one deployed last.
func (e *Engine) findLatest(ctx context.Context, id, _ string) (*definition, error) {
	if err := e.upToDate(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	known, seen := e.latest[id], e.aliases
	e.mu.Unlock()
	if known.aliases == seen && seen > 0 {
		return e.find(ctx, id, known.version)
	}
	rows, err := e.Definitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("find definition %s: %w", id, err)
	}
	version, ok := "", false
	for _, row := range rows { // in order of deployment
		if row.ID == id && (!ok || compareVersions(row.Version, version) >= 0) {
			version, ok = row.Version, true
		}
	}
	if !ok {
		return nil, &NotFoundError{"definition", id, ""}
	}
	e.mu.Lock()
	e.latest[id] = latest{version, seen}
	e.mu.Unlock()
	return e.find(ctx, id, version)
}

// compareVersions compares by the precedence of semantic versions. What is none comes before all.
func compareVersions(a, b string) int {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	switch {
	case !okX || !okY:
		return compareBool(okX, okY)
	case cmp.Or(cmp.Compare(x.n[0], y.n[0]), cmp.Compare(x.n[1], y.n[1]), cmp.Compare(x.n[2], y.n[2])) != 0:
		return cmp.Or(cmp.Compare(x.n[0], y.n[0]), cmp.Compare(x.n[1], y.n[1]), cmp.Compare(x.n[2], y.n[2]))
	case x.pre == nil || y.pre == nil:
		return compareBool(x.pre == nil, y.pre == nil)
	}
	for i := range min(len(x.pre), len(y.pre)) {
		if c := compareParts(x.pre[i], y.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x.pre), len(y.pre))
}

// semver is a semantic version without build metadata.
type semver struct {
	n   [3]uint64
	pre []string // parts of the pre-release; nil: it is none
}

func parseVersion(text string) (v semver, ok bool) {
	text, _, _ = strings.Cut(text, "+")
	text, pre, is := strings.Cut(text, "-")
	if is {
		v.pre = strings.Split(pre, ".")
	}
	parts := strings.Split(text, ".")
	if len(parts) != len(v.n) {
		return v, false
	}
	for i, part := range parts {
		var err error
		if v.n[i], err = strconv.ParseUint(part, 10, 64); err != nil {
			return v, false
		}
	}
	return v, true
}

// compareParts compares parts of pre-releases: numbers by value, and before texts.
func compareParts(a, b string) int {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Or(compareBool(errX != nil, errY != nil), cmp.Compare(a, b))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
