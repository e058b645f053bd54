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
