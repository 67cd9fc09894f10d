package databricks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/databricks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workspace is a server on a real socket, and a client of its own making.
type workspace struct {
	front  *databricks.Front
	server *sim.Server
	url    string
	http   *http.Client
	old    bool // writes headers without a version
	path   string
}

func start(t testing.TB, change func(*sim.Profile)) *workspace {
	t.Helper()
	front := databricks.New()
	p := sim.Default(front)
	if change != nil {
		change(&p)
	}
	server, err := sim.New(front, p)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &workspace{
		front: front, server: server, url: "http://" + listener.Addr().String(),
		http: &http.Client{Transport: transport}, path: "/sql/1.0/warehouses/abc",
	}
}

// answer is what a request came to.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a body; a body that breaks off is an error.
func (w *workspace) send(ctx context.Context, method, path string, body []byte) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer secret")
	r.GetBody = nil // nothing is sent again behind the test's back
	response, err := w.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, text}, err
}

// fields are a struct as Thrift has it: numbers, strings, []any and fields.
type fields map[int16]any

// call makes a Thrift call and gives what the reply has as result.
func (w *workspace) call(ctx context.Context, name string, request fields) (fields, error) {
	a, err := w.send(ctx, http.MethodPost, w.path, encode(name, request, w.old))
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", a.status, a.body)
	}
	result, kind, err := decode(name, a.body, w.old)
	if err != nil {
		return nil, err
	}
	if kind == 3 {
		return nil, fmt.Errorf("exception %v: %v", result[2], result[1])
	}
	success, ok := result[0].(fields)
	if !ok {
		return nil, fmt.Errorf("no result in %v", result)
	}
	return success, nil
}

func encode(name string, request fields, old bool) []byte {
	var b []byte
	if old {
		b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
		b = append(append(b, name...), 1)
	} else {
		b = binary.BigEndian.AppendUint32(b, 0x80010001)
		b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
	}
	b = binary.BigEndian.AppendUint32(b, 42)
	return put(b, fields{1: request})
}

func put(b []byte, x any) []byte {
	switch x := x.(type) {
	case bool:
		if x {
			return append(b, 1)
		}
		return append(b, 0)
	case int32:
		return binary.BigEndian.AppendUint32(b, uint32(x))
	case int64:
		return binary.BigEndian.AppendUint64(b, uint64(x))
	case string:
		return append(binary.BigEndian.AppendUint32(b, uint32(len(x))), x...)
	case fields:
		for id, v := range x {
			b = append(b, kindOf(v))
			b = put(binary.BigEndian.AppendUint16(b, uint16(id)), v)
		}
		return append(b, 0)
	case []any:
		b = append(b, kindOf(x[0]))
		b = binary.BigEndian.AppendUint32(b, uint32(len(x)))
		for _, v := range x {
			b = put(b, v)
		}
		return b
	}
	panic(fmt.Sprintf("%T", x))
}

func kindOf(x any) byte {
	switch x.(type) {
	case bool:
		return 2
	case int32:
		return 8
	case int64:
		return 10
	case string:
		return 11
	case fields:
		return 12
	}
	return 15
}

// decode reads a reply: its header has to be in the dialect of the call.
func decode(name string, b []byte, old bool) (result fields, kind byte, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the reply cannot be read: %v", problem)
		}
	}()
	r := &replyReader{b}
	if !old {
		version := uint32(r.number(4))
		if version>>16 != 0x8001 {
			return nil, 0, fmt.Errorf("version %x", version)
		}
		kind = byte(version)
	}
	if got := r.value(11); got != name {
		return nil, 0, fmt.Errorf("a reply to %v", got)
	}
	if old {
		kind = byte(r.number(1))
	}
	if seq := r.number(4); seq != 42 {
		return nil, 0, fmt.Errorf("sequence %d", seq)
	}
	result, _ = r.value(12).(fields)
	if len(r.b) > 0 {
		return nil, 0, fmt.Errorf("%d bytes after the reply", len(r.b))
	}
	return result, kind, nil
}

// replyReader panics where a reply ends too soon.
type replyReader struct{ b []byte }

func (r *replyReader) take(n int) []byte {
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *replyReader) number(bytes int) (n int64) {
	for _, b := range r.take(bytes) {
		n = n<<8 | int64(b)
	}
	return n
}

func (r *replyReader) value(kind byte) any {
	switch kind {
	case 2:
		return r.number(1) != 0
	case 8:
		return int32(r.number(4))
	case 10:
		return r.number(8)
	case 11:
		return string(r.take(int(r.number(4))))
	case 12:
		f := fields{}
		for {
			kind := byte(r.number(1))
			if kind == 0 {
				return f
			}
			id := int16(r.number(2))
			f[id] = r.value(kind)
		}
	case 15:
		of := byte(r.number(1))
		list := make([]any, r.number(4))
		for i := range list {
			list[i] = r.value(of)
		}
		return list
	}
	panic(fmt.Sprintf("type %d", kind))
}

// at follows the numbers of fields.
func (f fields) at(ids ...int16) any {
	var x any = f
	for _, id := range ids {
		inner, ok := x.(fields)
		if !ok {
			return nil
		}
		x = inner[id]
	}
	return x
}

var errStatus = errors.New("error status")

// ok gives an error where the status of a reply is none.
func (f fields) ok() error {
	if code := f.at(1, 1); code != int32(0) {
		return fmt.Errorf("%w %v: %v", errStatus, code, f.at(1, 5))
	}
	return nil
}

// open opens a session and gives its handle.
func (w *workspace) open(t *testing.T) any {
	t.Helper()
	reply, err := w.call(t.Context(), "OpenSession", fields{1: int32(-7), 1282: int64(42247)})
	if err != nil || reply.ok() != nil {
		t.Fatal(err, reply.ok())
	}
	if reply[2] != int32(42247) {
		t.Errorf("protocol %v", reply[2])
	}
	return reply[3]
}

// execute starts a statement and gives its handle.
func (w *workspace) execute(ctx context.Context, session any, text string) (any, error) {
	reply, err := w.call(ctx, "ExecuteStatement", fields{1: session, 2: text, 3: fields{}, 4: true})
	if err != nil {
		return nil, err
	}
	return reply[2], reply.ok()
}

// finish polls until a statement is over and gives its state and the polls.
func (w *workspace) finish(ctx context.Context, operation any) (state int32, polls int, err error) {
	for polls = 1; ; polls++ {
		reply, err := w.call(ctx, "GetOperationStatus", fields{1: operation})
		if err != nil {
			return 0, polls, err
		}
		if err := reply.ok(); err != nil {
			return 0, polls, err
		}
		if state, _ := reply[2].(int32); state != 1 {
			return state, polls, nil
		}
	}
}

// inMemory serves without a socket, for tests with time of their own.
func inMemory(t *testing.T, front *databricks.Front, server *sim.Server) *workspace {
	t.Helper()
	memory := sim.NewMemory()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, memory) }()
	transport := &http.Transport{DialContext: memory.Dial}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return &workspace{front: front, server: server, url: "http://sim", http: &http.Client{Transport: transport}, path: "/sql/1.0/warehouses/abc"}
}
