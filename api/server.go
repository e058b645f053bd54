package api

import "time"

// Stats counts instances.
type Stats struct {
	Total       int64             `json:"total"`
	Statuses    map[string]int64  `json:"statuses"`
	Definitions []DefinitionStats `json:"definitions"`
}

// DefinitionStats counts the instances of one definition.
type DefinitionStats struct {
	ID       string           `json:"id"`
	Total    int64            `json:"total"`
	Statuses map[string]int64 `json:"statuses"`
}

// Node is one of the servers that share a store.
type Node struct {
	ID      string    `json:"id,omitempty"`
	Name    string    `json:"name"`
	Address string    `json:"address,omitempty"`
	Version string    `json:"version,omitempty"`
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"`   // its last heartbeat
	Shards  int       `json:"shards"` // shards of the instances that it owns
	Of      int       `json:"of"`     // shards in all
	Calls   int       `json:"calls"`  // in flight
}

// Token is a token that a server accepts. What it is, only its owner knows.
type Token struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Client  string    `json:"client,omitempty"`  // that a device acts for
	Sources []string  `json:"sources,omitempty"` // of the events that it may send
	Expires time.Time `json:"expires,omitzero"`
	Expired bool      `json:"expired,omitempty"`
	Revoked bool      `json:"revoked,omitempty"`
}

// AuditEntry is what somebody changed, or tried to.
type AuditEntry struct {
	At        time.Time `json:"at"`
	Who       string    `json:"who"`
	Role      string    `json:"role,omitempty"`
	Address   string    `json:"address"`
	Operation string    `json:"operation"` // of the API
	Target    string    `json:"target"`    // a path of the API
	Before    string    `json:"before,omitempty"`
	After     string    `json:"after,omitempty"` // digests
	Reason    string    `json:"reason,omitempty"`
	Status    int       `json:"status"` // of the answer
	TraceID   string    `json:"traceId,omitempty"`
	Missed    int64     `json:"missed,omitempty"` // failed requests before this one that have no entry
}

// RevokeRequest names what is refused from now on: a token by its name, or a certificate by its serial number.
type RevokeRequest struct {
	Token       string `json:"token,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// Revocation is a token or a certificate that is refused.
type Revocation struct {
	ID          string    `json:"id"`
	Token       string    `json:"token,omitempty"`       // its name
	Certificate string    `json:"certificate,omitempty"` // its serial number, in hexadecimal digits
	By          string    `json:"by"`
	At          time.Time `json:"at"`
	Reason      string    `json:"reason,omitempty"`
}

// SessionRequest asks for a session cookie.
type SessionRequest struct {
	Token string `json:"token"`
}

// Session is the identity of a page's user.
type Session struct {
	Needed bool   `json:"needed"` // requests need a token
	Name   string `json:"name,omitempty"`
	Role   string `json:"role,omitempty"`
}
