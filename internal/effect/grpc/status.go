package grpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// statuses are the codes of gRPC by their names in its specification, with the HTTP status of each.
var statuses = map[codes.Code]struct {
	name string
	http int
}{
	codes.Canceled:           {"CANCELLED", 499},
	codes.Unknown:            {"UNKNOWN", 500},
	codes.InvalidArgument:    {"INVALID_ARGUMENT", 400},
	codes.DeadlineExceeded:   {"DEADLINE_EXCEEDED", 504},
	codes.NotFound:           {"NOT_FOUND", 404},
	codes.AlreadyExists:      {"ALREADY_EXISTS", 409},
	codes.PermissionDenied:   {"PERMISSION_DENIED", 403},
	codes.ResourceExhausted:  {"RESOURCE_EXHAUSTED", 429},
	codes.FailedPrecondition: {"FAILED_PRECONDITION", 400},
	codes.Aborted:            {"ABORTED", 409},
	codes.OutOfRange:         {"OUT_OF_RANGE", 400},
	codes.Unimplemented:      {"UNIMPLEMENTED", 501},
	codes.Internal:           {"INTERNAL", 500},
	codes.Unavailable:        {"UNAVAILABLE", 503},
	codes.DataLoss:           {"DATA_LOSS", 500},
	codes.Unauthenticated:    {"UNAUTHENTICATED", 401},
}

// failure is the outcome of a call that has a code of gRPC.
func failure(code codes.Code, detail string, details []expr.Value) effect.Outcome {
	known, ok := statuses[code]
	if !ok {
		known.name, known.http = strconv.FormatUint(uint64(code), 10), 500
	}
	data := []expr.Member{{Key: "code", Value: expr.String(known.name)}}
	if len(details) > 0 {
		data = append(data, expr.Member{Key: "details", Value: expr.Array(details...)})
	}
	return effect.Fail(effect.Failure{
		Name: effect.Communication, Code: known.name, Status: strconv.Itoa(known.http), Detail: detail, Data: expr.Object(data...),
	})
}

// failed is the outcome of a call that the library, or the service, ended with an error. limit names what ended it
// if nobody else did.
func (c *call) failed(ctx context.Context, err error, limit string) effect.Outcome {
	if own, ok := errors.AsType[*effecthttp.Error](err); ok {
		return refused(c.where, own)
	}
	st, _ := status.FromError(err)
	code := st.Code()
	if ctx.Err() != nil {
		code = status.FromContextError(ctx.Err()).Code()
	}
	switch {
	case code == codes.Canceled && ctx.Err() != nil:
		return failure(code, c.where+": the call was cancelled", nil)
	case code == codes.DeadlineExceeded && ctx.Err() != nil:
		return failure(code, fmt.Sprintf("%s: no answer came within %s", c.where, limit), nil)
	case code == codes.ResourceExhausted && strings.Contains(st.Message(), "received message larger than max"):
		return refused(c.where, c.large())
	case strings.Contains(st.Message(), "header list size exceed"):
		return refused(c.where, &effecthttp.Error{
			Code: effecthttp.CodeTooLarge,
			Msg:  fmt.Sprintf("the answer's headers are larger than %d bytes (limit response-header-bytes)", c.limits.HeaderBytes),
		})
	case code == codes.Unavailable && c.conn.GetState() != connectivity.Ready && c.conn.cause() != nil:
		return c.unreachable(ctx, c.conn.cause())
	}
	out := failure(code, strings.ToValidUTF8(st.Message(), "\ufffd"), c.details(st))
	if f := out.Failure; f.Detail == "" {
		f.Detail = fmt.Sprintf("%s answered %s", c.where, f.Code)
	}
	return out
}

// unreachable is the outcome of a call without a connection.
func (c *call) unreachable(ctx context.Context, cause error) effect.Outcome {
	err := c.client.Explain(ctx, cause, connectTime)
	if own, ok := errors.AsType[*effecthttp.Error](err); ok && own.Code == effecthttp.CodeRefused {
		return refused(c.where, own)
	}
	return failure(codes.Unavailable, c.where+": "+err.Error(), nil)
}

func (c *call) large() error {
	return &effecthttp.Error{
		Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("the answer is larger than %d bytes (limit response-bytes)", c.limits.ResponseBytes),
	}
}

// details are those of a status, as JSON where the document knows their types.
func (c *call) details(st *status.Status) (out []expr.Value) {
	weight := c.schema.scaleOf(c.limits.HeaderBytes)
	for _, d := range st.Proto().GetDetails() {
		at := expr.Member{Key: "@type", Value: expr.String(strings.ToValidUTF8(d.GetTypeUrl(), "\ufffd"))}
		if known, err := c.schema.types.FindMessageByURL(d.GetTypeUrl()); err == nil {
			if v, err := c.schema.decode(d.GetValue(), known.Descriptor(), weight); err == nil {
				if !v.IsObject() || wellKnown(known.Descriptor()) {
					v = expr.Object(expr.Member{Key: "value", Value: v})
				}
				out = append(out, v.With(at.Key, at.Value))
				continue
			}
		}
		out = append(out, expr.Object(at, expr.Member{Key: "value", Value: expr.String(base64.StdEncoding.EncodeToString(d.GetValue()))}))
	}
	return out
}

// refused is the outcome of a call that could not be made, or whose answer cannot be used.
func refused(where string, err error) effect.Outcome {
	if p, ok := errors.AsType[*problem](err); ok {
		return effect.Fail(effect.Failure{Name: effect.Communication, Code: p.code, Detail: where + ": " + err.Error()})
	}
	return effecthttp.CallOptions{}.Refused(where, err)
}

// errDigest: the credentials of digest answer what the server says first, which gRPC has no place for.
var errDigest = &auth.Error{Name: effect.Authentication, Msg: "authentication: gRPC has no digest; use basic, bearer, oauth2 or oidc"}

// inWords is a limit with its name.
func inWords(d time.Duration, name string) string { return fmt.Sprintf("%s (limit %s)", d, name) }
