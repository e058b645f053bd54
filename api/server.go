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

// Hours say what happened in each of the last hours.
type Hours struct {
	From        time.Time         `json:"from"` // the beginning of the first hour
	Hours       []HourStats       `json:"hours"`
	Definitions []DefinitionHours `json:"definitions"` // over all of these hours
}

// HourStats counts what happened to instances in one hour.
type HourStats struct {
	At        time.Time `json:"at"` // its beginning
	Started   int64     `json:"started"`
	Completed int64     `json:"completed"`
	Failed    int64     `json:"failed"`    // each time that one failed
	Cancelled int64     `json:"cancelled"` // or terminated
}

// DefinitionHours counts what happened to the instances of one definition, as [HourStats] does.
type DefinitionHours struct {
	ID        string   `json:"id"` // "": of all other definitions
	Started   int64    `json:"started"`
	Completed int64    `json:"completed"`
	Failed    int64    `json:"failed"`
	Cancelled int64    `json:"cancelled"`
	P50       *float64 `json:"p50,omitempty"` // seconds: the median duration of those that completed
	P95       *float64 `json:"p95,omitempty"` // seconds: what 95 % of them did not exceed
}

// Nodes are the servers that share a store.
type Nodes struct {
	Items      []Node `json:"items"`
	StoreBytes *int64 `json:"storeBytes,omitempty"` // that the store takes on disk

	QueuedCalls int      `json:"queuedCalls"`       // calls of the server that answers, waiting for a place among those in flight
	Unready     []string `json:"unready,omitempty"` // why the server that answers is not ready
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
	Operation string    `json:"operation"`        // of the API
	Target    string    `json:"target"`           // a path of the API
	Before    string    `json:"before,omitempty"` // the digest of what was replaced or deleted, or the settings
	After     string    `json:"after,omitempty"`  // likewise, of what there is now
	Reason    string    `json:"reason,omitempty"`
	Status    int       `json:"status"` // of the answer
	TraceID   string    `json:"traceId,omitempty"`
	Missed    int64     `json:"missed,omitempty"` // failed requests before this one that have no entry
}

// RevokeRequest names what is refused from now on: a token by its name, or a certificate by its serial number.
type RevokeRequest struct {
	Token       string `json:"token,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	Issuer      string `json:"issuer,omitempty"` // of the certificate, as RFC 2253 writes names; "": any
	Reason      string `json:"reason,omitempty"`
}

// Revocation is a token or a certificate that is refused.
type Revocation struct {
	ID          string    `json:"id"`
	Token       string    `json:"token,omitempty"`       // its name
	Certificate string    `json:"certificate,omitempty"` // its serial number, in hexadecimal digits
	Issuer      string    `json:"issuer,omitempty"`      // "": certificates of all authorities with this number
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
