package databricks

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Values of TCLIService's enumerations.
const (
	statusOK    = 0
	statusError = 3

	fetchFirst = 4

	newestProtocol = 0xA508 // SPARK_CLI_SERVICE_PROTOCOL_V8

	typeBigint  = 4
	typeString  = 7
	columnBased = 1

	infoServerName, infoDBMSName, infoDBMSVersion = 13, 17, 18
)

// operationStates are TOperationState's: running, finished, canceled, error.
var operationStates = [...]int32{running: 1, finished: 2, canceled: 3, failed: 5}

// atOnce is as long as a client waits that wants the result and nothing else.
const atOnce = time.Duration(math.MaxInt64 / 2)

// thrift carries out a call and gives the reply.
func (f *Front) thrift(m *message, s sim.Setting, e sim.Edit) []byte {
	w := m.begin(msgReply)
	w.begin(0) // the result; what the service throws would have other numbers
	switch m.name {
	case "OpenSession":
		f.openSession(w, m, s)
	case "CloseSession":
		f.closeSession(w, m)
	case "ExecuteStatement":
		f.executeStatement(w, m, s)
	case "GetInfo":
		f.getInfo(w, m)
	case "GetOperationStatus", "GetResultSetMetadata", "FetchResults", "CancelOperation", "CloseOperation":
		f.onOperation(w, m, s, e)
	default:
		return m.exception(unknownMethod, "Invalid method name: '"+m.name+"'")
	}
	w.end()
	w.end()
	return w.b
}

func (w *writer) status(code int32, message string) {
	w.begin(1)
	w.i32(1, code)
	if message != "" {
		w.text(3, "HY000")
		w.text(5, message)
		w.text(6, message)
	}
	w.end()
}

func (w *writer) handle(id int16, of guid) {
	w.begin(id)
	w.begin(1)
	w.text(1, string(of[:]))
	w.text(2, string(of[:])) // a secret, which nobody checks
	w.end()
}

func (f *Front) openSession(w *writer, m *message, s sim.Setting) {
	id := f.newID(s)
	f.sessions.add(id, &session{open: make(map[guid]bool)})
	protocol := int32(newestProtocol)
	if m.protocol > 0 && m.protocol < newestProtocol {
		protocol = int32(m.protocol)
	}
	w.status(statusOK, "")
	w.i32(2, protocol)
	w.handle(3, id)
	w.end()
}

func unknownSession(id guid) string {
	return "requirement failed: Session handle: SessionHandle [" + id.String() + "] has not been initialized or had already closed."
}

func (f *Front) closeSession(w *writer, m *message) {
	in := f.sessions.remove(m.session)
	if in == nil {
		w.status(statusError, unknownSession(m.session))
		return
	}
	for _, id := range in.all() {
		f.operations.remove(id)
	}
	w.status(statusOK, "")
}

func (f *Front) getInfo(w *writer, m *message) {
	if f.sessions.get(m.session) == nil {
		w.status(statusError, unknownSession(m.session))
	} else {
		w.status(statusOK, "")
	}
	text := ""
	switch m.info {
	case infoServerName, infoDBMSName:
		text = "Spark SQL"
	case infoDBMSVersion:
		text = "3.5.0"
	}
	w.begin(2)
	w.text(1, text)
	w.end()
}

func (f *Front) executeStatement(w *writer, m *message, s sim.Setting) {
	in := f.sessions.get(m.session)
	switch {
	case in == nil:
		w.status(statusError, unknownSession(m.session))
		return
	case m.statement == "":
		w.status(statusError, "[PARSE_EMPTY_STATEMENT] Syntax error, unexpected empty statement. SQLSTATE: 42617")
		return
	}
	o := f.execute(m.statement, in, s)
	within := time.Duration(0)
	if !m.async {
		within = atOnce
	}
	state := o.look(s, false, within)
	if state == failed && !m.direct {
		w.status(statusError, o.failure)
	} else {
		w.status(statusOK, "")
	}
	w.operationHandle(2, o)
	if !m.direct {
		return
	}
	w.begin(1281)
	w.begin(1)
	w.operationStatus(o, state)
	w.end()
	if state == finished {
		w.begin(2)
		w.metadata()
		w.end()
		w.begin(3)
		all := f.fetch(w, o, &message{maxRows: m.directRows, from: -1}, s, sim.Edit{})
		w.end()
		// What has been fetched whole is closed, as the service does.
		if all && f.close(o.id) {
			w.begin(4)
			w.status(statusOK, "")
			w.end()
		}
	}
	w.end()
}

func (w *writer) operationHandle(id int16, o *operation) {
	w.handle(id, o.id)
	w.i32(2, 0) // EXECUTE_STATEMENT
	w.bool(3, true)
	w.end()
}

func (f *Front) onOperation(w *writer, m *message, s sim.Setting, e sim.Edit) {
	o := f.operations.get(m.operation)
	if o == nil {
		w.status(statusError, "RESOURCE_DOES_NOT_EXIST: Query "+m.operation.String()+" does not exist.")
		return
	}
	switch m.name {
	case "GetOperationStatus":
		w.operationStatus(o, o.look(s, true, 0))
	case "CancelOperation":
		o.cancel()
		w.status(statusOK, "")
	case "CloseOperation":
		f.close(o.id)
		w.status(statusOK, "")
	default:
		switch o.look(s, false, 0) {
		case running:
			w.status(statusError, "Expected state FINISHED, but found RUNNING")
		case canceled:
			w.status(statusError, "Query "+o.id.String()+" was canceled.")
		case failed:
			w.status(statusError, o.failure)
		case finished:
			if m.name == "GetResultSetMetadata" {
				w.metadata()
			} else {
				f.fetch(w, o, m, s, e)
			}
		}
	}
}

func (w *writer) operationStatus(o *operation, at state) {
	w.status(statusOK, "")
	w.i32(2, operationStates[at])
	if at == failed {
		w.text(3, "P0001")
		w.text(5, o.failure)
	}
	begun, ended := o.at()
	w.i64(7, begun)
	if ended > 0 {
		w.i64(8, ended)
	}
	w.bool(9, true)
	if at == finished && o.changes {
		w.i64(11, 1)
	}
	if at == failed {
		w.text(1281, o.failure)
	}
}

// metadata is of two columns, a number and a text.
func (w *writer) metadata() {
	w.status(statusOK, "")
	w.begin(2)
	w.list(1, tStruct, len(columns))
	for i, c := range columns {
		w.text(1, c.Name)
		w.begin(2)
		w.list(1, tStruct, 1)
		w.begin(1)
		w.i32(1, c.id)
		w.end()
		w.end()
		w.end()
		w.i32(3, int32(i+1))
		w.end()
	}
	w.end()
	w.i32(1281, columnBased)
	w.bool(1287, false) // no staging operation: the Go driver reads it without asking whether it is there
}

// fetch writes a page, and tells whether it was the last.
func (f *Front) fetch(w *writer, o *operation, m *message, s sim.Setting, e sim.Edit) bool {
	from, to := o.page(m, s, e)
	more := to < s.Warehouse.Rows
	w.status(statusOK, "")
	w.bool(2, more)
	w.begin(3)
	w.i64(1, int64(from))
	w.list(2, tStruct, 0) // rows, of which there are none in columns
	w.list(3, tStruct, len(columns))
	w.begin(5)
	w.list(1, tI64, to-from)
	for i := from; i < to; i++ {
		w.long(int64(i))
	}
	w.text(2, "") // nulls
	w.end()
	w.end()
	w.begin(7)
	w.list(1, tString, to-from)
	for i := from; i < to; i++ {
		w.value(rowName(i))
	}
	w.text(2, "")
	w.end()
	w.end()
	w.end()
	if m.metadata {
		w.begin(1281)
		w.metadata()
		w.end()
	}
	return !more
}
