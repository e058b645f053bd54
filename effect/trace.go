package effect

import "context"

type (
	traceKey struct{}
	stateKey struct{}
)

// WithTraceparent returns a context that carries a W3C trace context, as the value of a traceparent header.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceKey{}, traceparent)
}

// Traceparent is the trace context that ctx carries, or "". The context of a call carries the place of the call in the trace of
// its instance: an [Invoker] passes it on to what it calls.
func Traceparent(ctx context.Context) string {
	v, _ := ctx.Value(traceKey{}).(string)
	return v
}

// WithTracestate returns a context that carries what belongs to a trace context, as the value of a tracestate header.
func WithTracestate(ctx context.Context, tracestate string) context.Context {
	return context.WithValue(ctx, stateKey{}, tracestate)
}

// Tracestate is what belongs to the trace context that ctx carries, or "". It goes out together with [Traceparent] only.
func Tracestate(ctx context.Context) string {
	v, _ := ctx.Value(stateKey{}).(string)
	return v
}
