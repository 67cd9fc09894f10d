package databricks

import (
	"bytes"
	"encoding/binary"
)

// HeadBytes of a Thrift message are enough to tell what it asks for.
const HeadBytes = 192

const (
	strictVersion = 0x8001 // of the binary protocol, in the first two bytes
	longestName   = 64     // of a method; the longest in use has 20

	typeCall      = 1
	typeReply     = 2
	typeException = 3
	typeOneway    = 4
)

// Thrift reads the head of a request's message in the binary protocol, strict or
// old. It is false for anything else: the compact protocol, a header that is cut
// off or whose lengths cannot be, another body.
func Thrift(head []byte) (Command, bool) {
	name, kind, rest, ok := header(head)
	if !ok || kind != typeCall && kind != typeOneway {
		return Command{}, false
	}
	c := Method(name)
	if id, ok := firstID(rest); ok {
		c.guid = id
	} else {
		c.handle = none
	}
	return c, true
}

// Method is what is known of a Thrift command by its name alone.
func Method[T string | []byte](name T) Command {
	c := Command{Service: "sql"}
	c.Name, c.handle, c.Repeatable = method([]byte(name))
	return c
}

// header reads name and type of a message; rest is what follows.
//
//	strict: 80 01 00 type, length of the name, name, sequence number
//	old:    length of the name, name, type, sequence number
func header(b []byte) (name []byte, kind byte, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, 0, nil, false
	}
	strict := binary.BigEndian.Uint16(b) == strictVersion
	if strict {
		kind, b = b[3], b[4:]
	}
	if len(b) < 4 {
		return nil, 0, nil, false
	}
	size := int64(binary.BigEndian.Uint32(b))
	b = b[4:]
	if size < 1 || size > longestName || size > int64(len(b)) {
		return nil, 0, nil, false
	}
	name, b = b[:size], b[size:]
	if !strict {
		if len(b) < 1 {
			return nil, 0, nil, false
		}
		kind, b = b[0], b[1:]
	}
	if len(b) < 4 || !plain(name) {
		return nil, 0, nil, false
	}
	return name, kind, b[4:], true
}

func plain(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// method tells what a method's first id is, and whether it may run twice. The
// constants spare the known ones an allocation.
func method(name []byte) (known string, first handle, repeatable bool) {
	switch string(name) {
	case "GetOperationStatus":
		return "GetOperationStatus", operation, true
	case "CancelOperation":
		return "CancelOperation", operation, true
	case "CloseOperation":
		return "CloseOperation", operation, true
	case "CloseSession":
		return "CloseSession", session, true
	case "FetchResults": // moves the cursor
		return "FetchResults", operation, false
	case "GetResultSetMetadata":
		return "GetResultSetMetadata", operation, false
	case "ExecuteStatement":
		return "ExecuteStatement", session, false
	case "OpenSession":
		return "OpenSession", none, false
	case "GetInfo", "GetTypeInfo", "GetCatalogs", "GetSchemas", "GetTables", "GetTableTypes", "GetColumns", "GetFunctions",
		"GetPrimaryKeys", "GetCrossReference", "GetDelegationToken", "CancelDelegationToken", "RenewDelegationToken":
		return string(name), session, false
	}
	return string(name), none, false
}

// toID is the way to the id of a session or an operation: the method's arguments,
// its request, the handle, the identifier, and there the first field, 16 bytes.
// The field after it is the secret, which is never read.
var toID = []byte{
	12, 0, 1, // struct, field 1: the request
	12, 0, 1, // struct, field 1: the handle
	12, 0, 1, // struct, field 1: the identifier
	11, 0, 1, 0, 0, 0, 16, // binary, field 1, of 16 bytes
}

func firstID(b []byte) (id [16]byte, ok bool) {
	b, ok = bytes.CutPrefix(b, toID)
	if !ok || len(b) < len(id) {
		return id, false
	}
	return [16]byte(b), true
}

// toStatus is the way to the status of a reply: its success, the response, and
// there the first field.
var toStatus = []byte{
	12, 0, 0, // struct, field 0: the success
	12, 0, 1, // struct, field 1: the status
	8, 0, 1, // i32, field 1: its code
}

// Refused reads a Thrift reply that came with an HTTP 200, and gives the code with
// which the application refused the command: "ERROR_STATUS",
// "INVALID_HANDLE_STATUS", or "EXCEPTION" of Thrift itself. It is empty where the
// command succeeded or the reply is in another form.
func Refused(reply []byte) string {
	_, kind, rest, ok := header(reply)
	switch {
	case !ok:
		return ""
	case kind == typeException:
		return "EXCEPTION"
	case kind != typeReply:
		return ""
	}
	rest, ok = bytes.CutPrefix(rest, toStatus)
	if !ok || len(rest) < 4 {
		return ""
	}
	switch binary.BigEndian.Uint32(rest) {
	case 3:
		return "ERROR_STATUS"
	case 4:
		return "INVALID_HANDLE_STATUS"
	}
	return ""
}
