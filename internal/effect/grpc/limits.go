package grpc

import "time"

// Limits of documents and answers. Beside them, response-bytes bounds the bytes of an answer, all messages of a
// stream together, on the wire and as JSON; response-header-bytes its headers and trailers.
const (
	maxSource = 512 << 10 // proto-bytes
	maxNested = 64        // proto-depth

	maxMessages = 100_000        // grpc-messages
	maxDepth    = 100            // grpc-depth
	maxStream   = 24 * time.Hour // grpc-stream-time
)

// How much stays in memory: documents that are compiled, and connections that were used lately
// (grpc-connections). A connection in use stays as long as it is.
const (
	maxSchemas     = 16
	maxConnections = 64
	idleTime       = 90 * time.Second
)
