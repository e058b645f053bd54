package http

import (
	"context"
	"time"
)

type statedKey struct{}

// Within tells the calls that are made with a context how long the definition waits for their answers.
func Within(ctx context.Context, timeout time.Duration) context.Context {
	return context.WithValue(ctx, statedKey{}, timeout)
}

// graceTime is how much longer than the definition a call waits, so that the timeout of the definition comes first: its
// fault says which action or task took too long.
const graceTime = time.Second

// Timeout is how long a call may take in all, and the name of what limits it. That is call-timeout, unless the
// definition states a longer one: then it is that, up to call-timeout-max.
func (c *Client) Timeout(ctx context.Context) (time.Duration, string) {
	stated, _ := ctx.Value(statedKey{}).(time.Duration)
	switch {
	case stated <= c.limits.Timeout:
		return c.limits.Timeout, "limit call-timeout"
	case stated > c.limits.MaxTimeout:
		return c.limits.MaxTimeout, "limit call-timeout-max"
	}
	return stated + graceTime, "the timeout of the definition"
}
