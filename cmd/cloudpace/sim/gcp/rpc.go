package gcp

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// gRPC over HTTP/2 (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md): a message has a
// byte that says whether it is compressed, and four for its length.

const assetMethods = "/google.cloud.asset.v1.AssetService/"

// readRPC reads a call of gRPC.
func readRPC(r *http.Request) *request {
	q := &request{grpc: true, service: assetService}
	name, ours := strings.CutPrefix(r.URL.Path, assetMethods)
	q.operation = shown(name)
	if !ours {
		q.operation = shown(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		q.problem = &problem{code: codes.Unimplemented, message: "The simulator does not model " + shown(r.URL.Path) + "."}
		return q
	}
	m := messageOf(name)
	if m == nil {
		return q
	}
	text, _ := sim.Peek(r, maxBody)
	payload, err := unframe(text)
	if err != nil {
		q.problem = err
		return q
	}
	if proto.Unmarshal(payload, m) != nil {
		q.problem = &problem{code: codes.Internal, message: "the request is no " + string(m.ProtoReflect().Descriptor().FullName())}
		return q
	}
	q.asks(m)
	return q
}

const frameHead = 5

// unframe takes the one message out of a body.
func unframe(body []byte) ([]byte, *problem) {
	switch {
	case len(body) < frameHead:
		return nil, &problem{code: codes.Internal, message: "the request has no message"}
	case body[0] != 0:
		return nil, &problem{code: codes.Unimplemented, message: "the request is compressed, which the simulator does not read"}
	case uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-frameHead):
		return nil, &problem{code: codes.Internal, message: "the request is not one message"}
	}
	return body[frameHead:], nil
}

// frame makes a body of a message.
func frame(payload []byte) []byte {
	body := make([]byte, frameHead, frameHead+len(payload))
	binary.BigEndian.PutUint32(body[1:], uint32(len(payload)))
	return append(body, payload...)
}

func rpcHeader() http.Header {
	return http.Header{"Content-Type": {"application/grpc"}, "Server-Timing": {"gfet4t7; dur=12"}}
}

// respondRPC answers with a message.
func respondRPC(m proto.Message) sim.Answer {
	var payload []byte
	if m != nil {
		var err error
		if payload, err = proto.Marshal(m); err != nil {
			panic(err) // of values that this package makes
		}
	}
	return sim.Answer{Status: http.StatusOK, Header: rpcHeader(), Body: frame(payload), Trailer: http.Header{"Grpc-Status": {"0"}}}
}

// failRPC answers with a status: there is nothing but a trailer, which comes first
// then.
func failRPC(p problem) sim.Answer {
	h := rpcHeader()
	h.Set("Grpc-Status", strconv.Itoa(int(p.code)))
	h.Set("Grpc-Message", percent(p.message))
	if len(p.details) > 0 {
		details, err := proto.Marshal(p.status())
		if err != nil {
			panic(err) // of values that this package makes
		}
		h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
	}
	return sim.Answer{Status: http.StatusOK, Header: h, As: p.http()}
}

// percent writes a message as gRPC's headers have it.
func percent(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
