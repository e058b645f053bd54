package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// leanClient sends one request again and again over one connection, each time with another key, and reads of the
// answer only what says that it is whole and good. It allocates nothing, and costs little more than its system calls.
type leanClient struct {
	conn    net.Conn
	request []byte
	keys    []int // where the key is in the request
	answer  []byte
}

const (
	keyMark   = "KKKKKKKKKKKKKKKK" // stands for the key in a request
	maxAnswer = 64 << 10
)

// dialLean connects. The request has keyMark where the key goes.
func dialLean(address, request string) (*leanClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &leanClient{conn: conn, request: []byte(request), answer: make([]byte, maxAnswer)}
	for at := 0; ; at += len(keyMark) {
		i := bytes.Index(c.request[at:], []byte(keyMark))
		if i < 0 {
			return c, nil
		}
		at += i
		c.keys = append(c.keys, at)
	}
}

// send makes the request with a key. The answer must be 200 and contain want.
func (c *leanClient) send(key int64, want []byte) error {
	var room [len(keyMark)]byte
	digits := strconv.AppendInt(room[:0], key, 10)
	for _, at := range c.keys {
		for i := range len(keyMark) - len(digits) {
			c.request[at+i] = '0'
		}
		copy(c.request[at+len(keyMark)-len(digits):], digits)
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	n, end := 0, 0 // bytes there are, and of the whole answer
	for end == 0 || n < end {
		if n == len(c.answer) {
			return errors.New("the answer is too long")
		}
		more, err := c.conn.Read(c.answer[n:])
		if err != nil {
			return err
		}
		n += more
		if head := bytes.Index(c.answer[:n], []byte("\r\n\r\n")); end == 0 && head >= 0 {
			length, err := contentLength(c.answer[:head+2])
			if err != nil {
				return err
			}
			end = head + 4 + length
		}
	}
	if !bytes.HasPrefix(c.answer, []byte("HTTP/1.1 200")) || !bytes.Contains(c.answer[:n], want) {
		return fmt.Errorf("the answer is %.500s", c.answer[:n])
	}
	return nil
}

// contentLength finds the length of a body in a head.
func contentLength(head []byte) (n int, err error) {
	_, rest, ok := bytes.Cut(head, []byte("\r\nContent-Length: "))
	if !ok {
		return 0, fmt.Errorf("the answer has no length: %.200s", head)
	}
	for _, c := range rest {
		if c == '\r' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n, nil
}

// leanClients run W1 over HTTP: each request starts an instance under a key of its own, and waits for its end. In bulk it starts
// bulkStarts of them, each under a key of its own, and waits for none.
type leanClients struct {
	address, request string
	want             []byte // what the answer contains
	key              atomic.Int64

	mu   sync.Mutex
	idle []*leanClient
	all  []*leanClient
}

// bulkStarts is how many instances a request in bulk starts.
const bulkStarts = 100

func newLeanClients(address, definition string, bulk bool) *leanClients {
	how, want := "?wait=60s", `"status":"completed"`
	input := `{"key":"` + keyMark + `"}`
	body := input
	if bulk {
		how, want = "/bulk", fmt.Sprintf(`"started":%d,`, bulkStarts)
		body = `{"starts":[` + strings.Repeat(`{"input":`+input+`},`, bulkStarts-1) + `{"input":` + input + `}]}`
	}
	cs := &leanClients{address: address, want: []byte(want), request: fmt.Sprintf("POST /api/v1/definitions/%s/instances%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", definition, how, keyMark, len(body), body)}
	cs.key.Store(time.Now().UnixMicro())
	return cs
}

// one runs an instance on a connection that is idle, or on a new one.
func (cs *leanClients) one(context.Context, int64) error {
	c, err := cs.take()
	if err != nil {
		return err
	}
	if err := c.send(cs.key.Add(1), cs.want); err != nil {
		return err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.idle = append(cs.idle, c)
	return nil
}

func (cs *leanClients) take() (*leanClient, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if last := len(cs.idle) - 1; last >= 0 {
		c := cs.idle[last]
		cs.idle = cs.idle[:last]
		return c, nil
	}
	c, err := dialLean(cs.address, cs.request)
	if err == nil {
		cs.all = append(cs.all, c)
	}
	return c, err
}

// close closes the connections, none of which is in use.
func (cs *leanClients) close() {
	for _, c := range cs.all {
		_ = c.conn.Close()
	}
}

// turnFigure is a figure on its way between processes.
type turnFigure struct {
	Count          int
	Took, P50, P99 time.Duration
}

// drive is the other process: for each line with a duration it runs W1 for so long, and reports. Count is how many are in
// flight, What the address, Dir the definition. In the role of bulk the clients start instances in bulk.
func (o order) drive(ctx context.Context) error {
	clients := newLeanClients(o.What, o.Dir, o.Role == "bulk")
	defer clients.close()
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		d, err := time.ParseDuration(lines.Text())
		if err != nil {
			return err
		}
		got, err := closedLoop(ctx, o.Count, d, clients.one)
		if err != nil {
			return err
		}
		if err := out.Encode(turnFigure{Count: got.count, Took: got.took, P50: got.p50, P99: got.p99}); err != nil {
			return err
		}
	}
	return nil
}

// driver is a process that uses a server.
type driver struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func startDriver(ctx context.Context, role, address, definition string, n int) (*driver, error) {
	cmd, err := command(ctx, role, definition, n, address)
	if err != nil {
		return nil, err
	}
	d := &driver{cmd: cmd}
	if d.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = json.NewDecoder(out)
	return d, cmd.Start()
}

// run has it measure for so long.
func (d *driver) run(span time.Duration) (figure, error) {
	if _, err := fmt.Fprintln(d.in, span); err != nil {
		return figure{}, err
	}
	var got turnFigure
	if err := d.out.Decode(&got); err != nil {
		return figure{}, fmt.Errorf("the driver ended: %w", errors.Join(err, d.cmd.Wait()))
	}
	return figure{got.Count, got.Took, got.P50, got.P99}, nil
}

func (d *driver) stop() error { return errors.Join(d.in.Close(), d.cmd.Wait()) }
