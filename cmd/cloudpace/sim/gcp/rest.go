package gcp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// readREST reads a request over HTTP with JSON.
func readREST(r *http.Request) *request {
	q := &request{service: assetService, operation: shown(r.Method + " " + r.URL.Path)}
	if r.URL.Path == "/v3/projects:search" && r.Method == http.MethodGet {
		q.service, q.operation = managerService, searchProjects
		q.readProjects(r.URL.Query())
		return q
	}
	if project, location, ok := clusterPath(r.Method, r.URL.Path); ok {
		q.service, q.operation, q.parent, q.location = clusterService, listClusters, project, location
		q.ask = (*context).listClusters
		return q
	}
	parent, operation, ok := route(r.Method, r.URL.Path)
	if !ok {
		q.operation = "(unknown)" // nobody's, so that made-up ones fill no report
		q.problem = &problem{code: codes.NotFound, message: "The simulator does not have " + shown(r.Method+" "+r.URL.Path) + "."}
		return q
	}
	q.operation = operation
	m := messageOf(operation)
	if m == nil {
		return q
	}
	if q.problem = bind(m, r.URL.Query()); q.problem != nil {
		return q
	}
	fields := m.ProtoReflect()
	fields.Set(fields.Descriptor().Fields().ByName(protoreflect.Name(q.parentField())), protoreflect.ValueOfString(strings.ToValidUTF8(parent, "_")))
	q.asks(m)
	return q
}

// route takes a path of Asset Inventory apart: /v1/projects/example-1/assets,
// /v1/projects/example-1:searchAllResources.
func route(method, path string) (parent, operation string, ok bool) {
	rest, v1 := strings.CutPrefix(path, "/v1/")
	segments := strings.Split(rest, "/")
	if !v1 || method != http.MethodGet || len(segments) < 2 {
		return "", "", false
	}
	switch segments[0] {
	case "projects", "folders", "organizations":
	default:
		return "", "", false
	}
	switch len(segments) {
	case 3:
		operation, ok = map[string]string{"assets": listAssets, "feeds": "ListFeeds", "savedQueries": "ListSavedQueries"}[segments[2]]
	case 2:
		id, verb, _ := strings.Cut(segments[1], ":")
		segments[1] = id
		operation, ok = map[string]string{"searchAllResources": searchResources, "searchAllIamPolicies": searchPolicies}[verb]
	}
	return segments[0] + "/" + segments[1], operation, ok
}

// system are the parameters that all APIs have.
var system = map[string]bool{
	"alt": true, "$alt": true, "prettyPrint": true, "$prettyPrint": true, "key": true, "quotaUser": true,
	"access_token": true, "oauth_token": true, "callback": true, "$.xgafv": true, "$httpHeaders": true,
}

// bind reads the parameters of an address into a request's fields.
func bind(m proto.Message, query url.Values) *problem {
	o := object{}
	fields := m.ProtoReflect().Descriptor().Fields()
	for key, values := range query {
		if system[key] {
			continue
		}
		field := fields.ByJSONName(key)
		if field == nil {
			field = fields.ByName(protoreflect.Name(key))
		}
		switch {
		case field == nil || field.Name() == "parent" || field.Name() == "scope":
			return &problem{code: codes.InvalidArgument, message: "Invalid JSON payload received. Unknown name \"" + shown(key) + "\": Cannot bind query parameter. Field '" + shown(key) + "' could not be found in request message."}
		case field.IsList():
			o[field.JSONName()] = values
		case field.Kind() == protoreflect.Int32Kind:
			n, err := strconv.ParseInt(values[0], 10, 32)
			if err != nil {
				return invalid(key, values[0])
			}
			o[field.JSONName()] = n
		default:
			o[field.JSONName()] = values[0]
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // of texts and numbers
	}
	if err := protojson.Unmarshal(text, m); err != nil {
		return &problem{code: codes.InvalidArgument, message: "Invalid JSON payload received: a parameter has a value that it cannot have."}
	}
	return nil
}

func invalid(key, value string) *problem {
	return &problem{code: codes.InvalidArgument, message: "Invalid value at '" + shown(key) + "': '" + shown(value) + "'."}
}

func restHeader() http.Header {
	return http.Header{
		"Content-Type": {"application/json; charset=UTF-8"}, "Cache-Control": {"private"}, "Vary": {"Origin", "X-Origin", "Referer"},
		"X-Content-Type-Options": {"nosniff"},
	}
}

// respondREST answers with a message.
func respondREST(m proto.Message) sim.Answer {
	text := []byte("{}")
	if m != nil {
		var err error
		if text, err = protojson.Marshal(m); err != nil {
			panic(err) // of values that this package makes
		}
	}
	return sim.Answer{Status: http.StatusOK, Header: restHeader(), Body: append(text, '\n')}
}

// respondJSON answers with a value that is no message of gRPC.
func respondJSON(value any) sim.Answer {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // of values that this package makes
	}
	return sim.Answer{Status: http.StatusOK, Header: restHeader(), Body: append(text, '\n')}
}

// failREST writes an error in the form that Google's APIs share. Older ones, such as
// Resource Manager, have a reason in a form of their own besides.
func failREST(p problem, older bool) sim.Answer {
	o := object{"code": p.http(), "message": p.message, "status": p.name()}
	if older && p.reason != "" {
		domain := "global"
		if p.reason == accessNotConfigured {
			domain = "usageLimits"
		}
		o["errors"] = []any{object{"message": p.message, "domain": domain, "reason": p.reason}}
	}
	var details []any
	for _, d := range p.status().Details {
		text, err := protojson.Marshal(d)
		if err != nil {
			panic(err) // of values that this package makes
		}
		details = append(details, json.RawMessage(text))
	}
	if details != nil {
		o["details"] = details
	}
	text, err := json.MarshalIndent(object{"error": o}, "", "  ")
	if err != nil {
		panic(err) // likewise
	}
	return sim.Answer{Status: p.http(), Header: restHeader(), Body: append(text, '\n')}
}
