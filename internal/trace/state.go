package trace

import (
	"slices"
	"strings"
)

const (
	// maxStateLength is how much of a tracestate is passed on ("tracestate").
	maxStateLength = 512
	// maxStateMembers is how many members a valid one has.
	maxStateMembers = 32
	// longMember is the length from which on members are left out first.
	longMember = 128
)

// ParseState reads a tracestate header (W3C Trace Context §tracestate). It returns "" for one that must be ignored, and else
// what is passed on: its members, without empty ones, as many as there is room for (§Limits).
func ParseState(header string) string {
	var members []string
	keys := map[string]bool{}
	for member := range strings.SplitSeq(header, ",") {
		member = strings.Trim(member, " \t")
		if member == "" {
			continue
		}
		key, value, _ := strings.Cut(member, "=")
		if !isStateKey(key) || !isStateValue(value) || keys[key] || len(members) == maxStateMembers {
			return ""
		}
		keys[key] = true
		members = append(members, member)
	}
	size := len(members) - 1 // commas
	for _, m := range members {
		size += len(m)
	}
	drop := func(i int) {
		size -= len(members[i]) + 1
		members = slices.Delete(members, i, i+1)
	}
	for i := len(members) - 1; i >= 0 && size > maxStateLength; i-- {
		if len(members[i]) > longMember {
			drop(i)
		}
	}
	for size > maxStateLength {
		drop(len(members) - 1)
	}
	return strings.Join(members, ",")
}

// isStateKey reports whether a text is a key, with a tenant and @ in it or without.
func isStateKey(key string) bool {
	for i, c := range []byte(key) {
		first := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !first && (i == 0 || !strings.ContainsRune("_-*/@", rune(c))) {
			return false
		}
	}
	return key != "" && len(key) <= 256 && strings.Count(key, "@") <= 1
}

// isStateValue reports whether a text is a value: printable, without a comma or =.
func isStateValue(value string) bool {
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' || c == ',' || c == '=' {
			return false
		}
	}
	return value != "" && len(value) <= 256
}
