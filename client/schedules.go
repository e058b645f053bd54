package client

import (
	"context"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
)

// ListSchedules lists schedules by definition, each with its next fire time and the last one.
func (c *Client) ListSchedules(ctx context.Context, p Paging) (api.Page[api.Schedule], error) {
	return call[api.Page[api.Schedule]](ctx, c, p.add(get("/api/v1/schedules")))
}

// GetSchedule reads the schedule of a definition.
func (c *Client) GetSchedule(ctx context.Context, definition string) (api.Schedule, error) {
	return call[api.Schedule](ctx, c, get(schedulePath(definition)))
}

func schedulePath(definition string, more ...string) string {
	return pathOf(append([]string{"api", "v1", "schedules", definition}, more...)...)
}

// SetSchedule changes how a schedule fires.
func (c *Client) SetSchedule(ctx context.Context, definition string, r api.RulesRequest) (api.Schedule, error) {
	return call[api.Schedule](ctx, c, request{method: http.MethodPatch, path: schedulePath(definition), repeatable: true}.withJSON(r))
}

// decide sends a decision that may be repeated.
func decide[T any](ctx context.Context, c *Client, path, reason string) (T, error) {
	r := request{method: http.MethodPost, path: path, repeatable: true}.withJSON(api.DecisionRequest{Reason: reason})
	return call[T](ctx, c, r)
}

// PauseSchedule keeps a schedule from firing until it is resumed, in new versions, too.
func (c *Client) PauseSchedule(ctx context.Context, definition, reason string) (api.Schedule, error) {
	return decide[api.Schedule](ctx, c, schedulePath(definition, "pause"), reason)
}

// ResumeSchedule lets a paused schedule go on with the next fire time.
func (c *Client) ResumeSchedule(ctx context.Context, definition, reason string) (api.Schedule, error) {
	return decide[api.Schedule](ctx, c, schedulePath(definition, "resume"), reason)
}

// TriggerSchedule starts an instance now, as the schedule would.
func (c *Client) TriggerSchedule(ctx context.Context, definition, reason string) (api.Triggered, error) {
	r := request{method: http.MethodPost, path: schedulePath(definition, "trigger")}.withJSON(api.DecisionRequest{Reason: reason})
	return call[api.Triggered](ctx, c, r)
}

// BackfillSchedule starts the instances of fire times that have passed. Repeating it starts none twice.
func (c *Client) BackfillSchedule(ctx context.Context, definition string, b api.BackfillRequest) (api.Backfill, error) {
	r := request{method: http.MethodPost, path: schedulePath(definition, "backfill"), repeatable: true}.withJSON(b)
	return call[api.Backfill](ctx, c, r)
}

func decisionPath(definition, verb string) string {
	return pathOf("api", "v1", "definitions", definition, verb)
}

// PauseDefinition stops a definition until it is resumed: nothing of it starts or continues.
func (c *Client) PauseDefinition(ctx context.Context, id, reason string) (api.Definition, error) {
	return decide[api.Definition](ctx, c, decisionPath(id, "pause"), reason)
}

// ResumeDefinition lets a paused definition go on.
func (c *Client) ResumeDefinition(ctx context.Context, id, reason string) (api.Definition, error) {
	return decide[api.Definition](ctx, c, decisionPath(id, "resume"), reason)
}

// RetireDefinition ends a definition: no instance is started until a new version is deployed.
func (c *Client) RetireDefinition(ctx context.Context, id, reason string) (api.Definition, error) {
	return decide[api.Definition](ctx, c, decisionPath(id, "retire"), reason)
}

// UnretireDefinition undoes RetireDefinition.
func (c *Client) UnretireDefinition(ctx context.Context, id, reason string) (api.Definition, error) {
	return decide[api.Definition](ctx, c, decisionPath(id, "unretire"), reason)
}
