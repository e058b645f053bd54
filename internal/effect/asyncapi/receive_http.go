package asyncapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	nethttp "net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// longestPause is the longest wait before a stream is asked for again.
const longestPause = 30 * time.Second

// httpFeed is the answer to a GET: a stream of server-sent events, of lines of JSON, or a document of JSON. When it
// is over it is asked for again.
type httpFeed struct {
	invoker *Invoker
	target  target
	request effecthttp.Request
	after   string        // id of the last message
	pause   time.Duration // before it is asked for again, as the server likes it

	cancel  context.CancelFunc // ends the request
	body    io.ReadCloser      // nil: none is open
	read    func() (expr.Value, error)
	pending []expr.Value // payloads: as messages they would take much more memory
	polled  bool         // the last message was of a document: the next one may be the same
}

// lines are media types with a JSON value on each line.
var lines = []string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/stream+json", "application/json-seq"}

func (i *Invoker) openHTTP(ctx context.Context, t target, at position) (feed, error) {
	method := t.method
	if method == "" {
		method = "GET"
	}
	r, err := t.request(method, expr.EmptyObject)
	if err != nil {
		return nil, err
	}
	r.Header = nethttp.Header{"Accept": {"text/event-stream, application/x-ndjson, application/json;q=0.5"}, "Cache-Control": {"no-cache"}}
	f := &httpFeed{invoker: i, target: t, request: r, after: at.after, pause: i.pause}
	return f, f.connect(ctx)
}

// connect asks for the stream. Its headers must come within call-timeout.
func (f *httpFeed) connect(ctx context.Context) error {
	f.request.Header.Del("Last-Event-ID")
	if f.after != "" {
		f.request.Header.Set("Last-Event-ID", f.after)
	}
	open, cancel := context.WithCancel(context.Background()) // it outlives the call
	timeout := f.invoker.client.Limits().Timeout
	late := time.AfterFunc(timeout, cancel)
	stop := context.AfterFunc(ctx, cancel)
	resp, err := f.invoker.client.Open(open, f.request)
	if !late.Stop() && ctx.Err() == nil {
		err = errors.Join(err, context.DeadlineExceeded)
	}
	if stop(); err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil && resp != nil:
		resp.Body.Close()
		fallthrough
	case err != nil:
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.DeadlineExceeded // not that it was cancelled for it
		}
		return f.invoker.client.Explain(ctx, err, timeout)
	}
	f.cancel, f.body = cancel, resp.Body
	if err := f.accept(resp); err != nil {
		f.drop()
		return err
	}
	return nil
}

// accept looks at what the answer is.
func (f *httpFeed) accept(resp *nethttp.Response) error {
	most := f.invoker.client.Limits().ResponseBytes
	if resp.StatusCode >= nethttp.StatusMultipleChoices {
		return &status{resp.StatusCode}
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == nethttp.StatusNoContent:
		f.read = func() (expr.Value, error) { return expr.Null, io.EOF }
	case media == "text/event-stream":
		f.read = (&events{in: bufio.NewReader(f.body), most: int(most), feed: f}).next
	case slices.Contains(lines, media):
		in := bufio.NewReader(f.body)
		f.read = func() (expr.Value, error) { return f.line(in, int(most)) }
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		f.read = func() (expr.Value, error) { return f.whole(most) }
	default:
		return invalid(fmt.Sprintf("the answer is %q, and must be text/event-stream, application/x-ndjson or application/json", media))
	}
	return nil
}

// status is an answer that is no stream.
type status struct{ code int }

func (s *status) Error() string {
	return fmt.Sprintf("the answer is %d %s", s.code, nethttp.StatusText(s.code))
}

func (f *httpFeed) next(ctx context.Context) (expr.Value, error) {
	failures := 0
	for {
		var err error
		if len(f.pending) == 0 && f.body == nil {
			if f.polled {
				_ = wait(ctx, f.pause)
			}
			f.polled, err = false, f.connect(ctx)
		}
		if err == nil {
			var msg expr.Value
			if msg, err = f.message(ctx); err == nil {
				return msg, nil
			}
			if !errors.Is(err, io.EOF) {
				failures++
			}
			f.drop()
		} else {
			failures++
		}
		var known *effecthttp.Error
		switch {
		case ctx.Err() != nil:
			return expr.Null, ctx.Err()
		case failures > maxReconnects, errors.As(err, &known) && (known.Code == effecthttp.CodeTooLarge || known.Code == effecthttp.CodeInvalid):
			return expr.Null, err
		}
		if err := wait(ctx, min(f.pause<<failures, longestPause)); err != nil {
			return expr.Null, err
		}
	}
}

// message reads the next message of the open answer.
func (f *httpFeed) message(ctx context.Context) (expr.Value, error) {
	if len(f.pending) == 0 {
		defer context.AfterFunc(ctx, f.cancel)()
		v, err := f.read()
		if err != nil || len(f.pending) == 0 {
			return v, err
		}
	}
	payload := f.pending[0]
	f.pending = f.pending[1:]
	return f.target.inbound(payload, nil), nil
}

// drop ends the answer.
func (f *httpFeed) drop() {
	if f.body != nil {
		f.cancel()
		f.body.Close()
		f.body = nil
	}
}

func (f *httpFeed) close(bool) { f.drop() }

// whole reads a document of JSON: a message, or an array of them.
func (f *httpFeed) whole(most int64) (expr.Value, error) {
	text, err := io.ReadAll(io.LimitReader(f.body, most+1))
	switch {
	case err != nil:
		return expr.Null, err
	case int64(len(text)) > most:
		return expr.Null, tooLarge(most)
	case len(bytes.TrimSpace(text)) == 0:
		return expr.Null, io.EOF
	}
	v, err := expr.ParseJSON(text)
	if err != nil {
		return expr.Null, invalid("the answer says that it is JSON, but: " + err.Error())
	}
	f.drop()
	f.polled = !v.IsArray() || v.Len() > 0
	if !v.IsArray() {
		return f.target.inbound(v, nil), nil
	}
	if v.Len() == 0 {
		return expr.Null, io.EOF
	}
	f.pending = v.Items()
	return expr.Null, nil
}

// line reads the next line that is not blank.
func (f *httpFeed) line(in *bufio.Reader, most int) (expr.Value, error) {
	for {
		text, err := readLine(in, most)
		text = bytes.Trim(text, "\x1e \t\r\n") // json-seq begins each with a record separator
		if len(text) == 0 && err != nil {
			return expr.Null, err
		}
		if len(text) == 0 {
			continue
		}
		v, bad := expr.ParseJSON(text)
		if bad != nil && err == nil {
			return expr.Null, invalid("a line of the answer is not JSON: " + bad.Error())
		}
		if bad != nil {
			return expr.Null, io.ErrUnexpectedEOF
		}
		return f.target.inbound(v, nil), nil
	}
}

// readLine reads a line of at most so many bytes, with its end.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, tooLarge(int64(most))
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func tooLarge(most int64) error {
	return &effecthttp.Error{Code: effecthttp.CodeTooLarge, Msg: fmt.Sprintf("a message is larger than %d bytes (limit response-bytes)", most)}
}

// events reads server-sent events.
type events struct {
	in   *bufio.Reader
	most int
	feed *httpFeed
}

// next reads the next event with data. What a stream that ends leaves unfinished is not an event.
func (e *events) next() (expr.Value, error) {
	var data []byte
	var name string
	id, has, size := e.feed.after, false, 0
	for {
		line, err := readLine(e.in, e.most)
		if err != nil {
			return expr.Null, err
		}
		if size += len(line); size > e.most {
			return expr.Null, tooLarge(int64(e.most))
		}
		text := strings.TrimPrefix(strings.TrimRight(string(line), "\r\n"), "\ufeff")
		if text == "" {
			if e.feed.after = id; has {
				return e.message(data, name, id), nil
			}
			data, name, size = nil, "", 0
			continue
		}
		field, value, _ := strings.Cut(text, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		case "event":
			name = value
		case "id":
			if !strings.ContainsRune(value, 0) {
				id = value
			}
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms >= 0 {
				e.feed.pause = min(max(time.Duration(ms)*time.Millisecond, e.feed.invoker.pause), longestPause)
			}
		}
	}
}

func (e *events) message(data []byte, name, id string) expr.Value {
	var headers []expr.Member
	if name != "" {
		headers = append(headers, expr.Member{Key: "event", Value: expr.String(strings.ToValidUTF8(name, "\ufffd"))})
	}
	out := e.feed.target.inbound(decode(data), headers)
	if id != "" {
		out = out.With("id", expr.String(strings.ToValidUTF8(id, "\ufffd")))
	}
	return out
}
