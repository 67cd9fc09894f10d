package aws

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// object is a structure under the names that go over the wire. A value is a
// string, bool, int, int64, float64, time, an object, or a list; nil leaves the
// field out.
type object []field

type field struct {
	name  string
	value any
}

// list is one whose elements have a name in XML; JSON needs none.
type list struct {
	of    string
	items []any
}

// fields makes an object of names and values in turn.
func fields(pairs ...any) object {
	o := make(object, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			panic("sim: a field's name is a string")
		}
		if pairs[i+1] != nil {
			o = append(o, field{name, pairs[i+1]})
		}
	}
	return o
}

func (s *service) xml() bool {
	return s.protocol == ec2Query || s.protocol == query || s.protocol == restXML
}

func (s *service) contentType() string {
	switch s.protocol {
	case json10:
		return "application/x-amz-json-1.0"
	case json11:
		return "application/x-amz-json-1.1"
	case restJSON:
		return "application/json"
	case restXML:
		return "application/xml"
	case rpcCBOR:
		return "application/cbor"
	}
	return "text/xml;charset=UTF-8"
}

var requests atomic.Uint64

// requestID looks like one of AWS's.
func requestID() string {
	n := requests.Add(1)
	return fmt.Sprintf("51b0%04x-0000-4000-8000-%012x", n>>48, n&(1<<48-1))
}

// render writes an answer: root is the element that a service of REST with XML
// puts around it.
func (q *request) render(o object, root string) sim.Answer {
	id := requestID()
	a := sim.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {q.service.contentType()}, "X-Amzn-Requestid": {id}}}
	switch {
	case q.service.protocol == rpcCBOR:
		a.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		a.Body = appendCBOR(nil, o)
		return a
	case !q.service.xml():
		a.Body = appendJSON(nil, o)
		return a
	}
	b := []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	switch q.service.protocol {
	case ec2Query:
		b = open(b, q.name+"Response", q.service.namespace)
		b = appendXML(b, "requestId", id)
		b = content(b, o)
		b = shut(b, q.name+"Response")
	case query:
		b = open(b, q.name+"Response", q.service.namespace)
		b = appendXML(b, q.name+"Result", o)
		b = appendXML(b, "ResponseMetadata", fields("RequestId", id))
		b = shut(b, q.name+"Response")
	default:
		a.Header.Set("X-Amz-Request-Id", id)
		b = open(b, root, q.service.namespace)
		b = content(b, o)
		b = shut(b, root)
	}
	a.Body = b
	if q.head {
		a.Body = nil
	}
	return a
}

// fail writes an error.
func (q *request) fail(p problem) sim.Answer {
	id := requestID()
	a := sim.Answer{Status: p.status, Header: http.Header{"Content-Type": {q.service.contentType()}, "X-Amzn-Requestid": {id}}}
	kind := "Sender"
	if p.status >= 500 {
		kind = "Receiver"
	}
	switch q.service.protocol {
	case ec2Query:
		a.Body = document("Response", "", fields("Errors", fields("Error", fields("Code", p.code, "Message", p.message)), "RequestID", id))
	case query:
		a.Body = document("ErrorResponse", q.service.namespace, fields("Error", fields("Type", kind, "Code", p.code, "Message", p.message), "RequestId", id))
	case restXML:
		a.Header.Set("X-Amz-Request-Id", id)
		if q.service.name == "s3" {
			a.Body = document("Error", "", fields("Code", p.code, "Message", p.message, "RequestId", id, "HostId", "sim"))
			break
		}
		a.Body = document("ErrorResponse", q.service.namespace, fields("Error", fields("Type", kind, "Code", p.code, "Message", p.message), "RequestId", id))
	case rpcCBOR:
		a.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		if q.service.queryCompatible {
			a.Header.Set("X-Amzn-Query-Error", p.code+";"+kind)
		}
		a.Body = appendCBOR(nil, fields("__type", "com.amazonaws."+q.service.name+"#"+p.code, "message", p.message))
	case restJSON:
		a.Header.Set("X-Amzn-Errortype", p.code)
		o := fields("Type", "User", "message", p.message)
		if q.service.name == "lambda" && p.status == http.StatusTooManyRequests {
			o = fields("Reason", "CallerRateLimitExceeded", "Type", "User", "message", p.message)
		}
		a.Body = appendJSON(nil, o)
	default:
		a.Header.Set("X-Amzn-Errortype", p.code)
		if q.service.queryCompatible {
			a.Header.Set("X-Amzn-Query-Error", p.code+";"+kind)
		}
		a.Body = appendJSON(nil, fields("__type", "com.amazonaws."+q.service.name+"#"+p.code, "message", p.message))
	}
	if q.head {
		a.Body = nil // a HEAD's answer has the status alone
	}
	return a
}

func document(root, namespace string, o object) []byte {
	b := open([]byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"), root, namespace)
	return shut(content(b, o), root)
}

func open(b []byte, name, namespace string) []byte {
	b = append(append(b, '<'), name...)
	if namespace != "" {
		b = append(append(append(b, ` xmlns="`...), namespace...), '"')
	}
	return append(b, '>')
}

func shut(b []byte, name string) []byte { return append(append(append(b, "</"...), name...), '>') }

func content(b []byte, o object) []byte {
	for _, f := range o {
		b = appendXML(b, f.name, f.value)
	}
	return b
}

func appendXML(b []byte, name string, value any) []byte {
	b = open(b, name, "")
	switch v := value.(type) {
	case object:
		b = content(b, v)
	case list:
		for _, item := range v.items {
			b = appendXML(b, v.of, item)
		}
	default:
		b = appendText(b, text(v))
	}
	return shut(b, name)
}

// appendText escapes only where there is something to escape.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' {
			var w bytes.Buffer
			_ = xml.EscapeText(&w, []byte(s)) // into memory
			return append(b, w.Bytes()...)
		}
	}
	return append(b, s...)
}

func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	panic(fmt.Sprintf("sim: a value of type %T", value))
}

// appendJSON writes a value. A time is in seconds since 1970, as JSON services
// have it; where one has it otherwise its row says so with a text or a number.
func appendJSON(b []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		b = append(b, '{')
		for i, f := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSON(b, f.name), ':')
			b = appendJSON(b, f.value)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case string:
		quoted, err := json.Marshal(v)
		if err != nil {
			panic(err) // no string is refused
		}
		return append(b, quoted...)
	case time.Time:
		return strconv.AppendInt(b, v.Unix(), 10)
	}
	return append(b, text(value)...)
}
