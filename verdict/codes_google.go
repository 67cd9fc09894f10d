package verdict

import "strings"

// google: the gRPC status codes (google.rpc.Code), the reasons of REST errors
// ("Standard error responses", domain usageLimits) and of google.rpc.ErrorInfo.
var google = provider{
	codes: map[string]rule{
		"RESOURCE_EXHAUSTED": {kind: Throttled, when: googleExhausted, rpc: true},
		// The server may have begun to run a request before it became unavailable.
		"UNAVAILABLE":       {kind: Throttled, when: googleUnavailable, mayHaveRun: true, rpc: true},
		"DEADLINE_EXCEEDED": {kind: Transient, rpc: true},
		"INTERNAL":          {kind: Transient, when: googleInternal, rpc: true},
		"CANCELLED":         {kind: Canceled, when: googleCancelled, rpc: true},

		"rateLimitExceeded":               {kind: Throttled, when: googleRate},
		"userRateLimitExceeded":           {kind: Throttled, when: googleRate},
		"rateLimitExceededUnreg":          {kind: Throttled, when: googleRate},
		"userRateLimitExceededUnreg":      {kind: Throttled, when: googleRate},
		"RATE_LIMIT_EXCEEDED":             {kind: Throttled, when: googleRate},
		"quotaExceeded":                   {kind: Fatal, when: googleQuota},
		"dailyLimitExceeded":              {kind: Fatal, why: dailyQuota},
		"dailyLimitExceededUnreg":         {kind: Fatal, why: dailyQuota},
		"accessNotConfigured":             {kind: Fatal, when: googleDisabled},
		"SERVICE_DISABLED":                {kind: Fatal, when: googleDisabled},
		"forbidden":                       {kind: Fatal, when: googleDenied},
		"insufficientPermissions":         {kind: Fatal, when: googleDenied},
		"IAM_PERMISSION_DENIED":           {kind: Fatal, when: googleDenied},
		"PERMISSION_DENIED":               {kind: Fatal, when: googleDenied, rpc: true},
		"ACCESS_TOKEN_SCOPE_INSUFFICIENT": {kind: Fatal, when: googleDenied},
	},
	// The other names of google.rpc.Code. UNKNOWN is none of them: it is what a
	// library says of an error that has no status.
	names: []string{"INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
		"UNIMPLEMENTED", "DATA_LOSS", "UNAUTHENTICATED"},
	read: readGoogle,
}

// dailyQuota is the reason of an error that passes with the day.
const dailyQuota = "a daily quota is used up"

// googleError is what a google.rpc.Status or a REST error says besides code and
// message.
type googleError struct {
	consumer string   // ErrorInfo: whose quota or disabled API it is
	service  string   // ErrorInfo: which API
	metric   string   // ErrorInfo: quota_metric
	delays   []any    // RetryInfo.retryDelay
	span     span     // what a quota is counted per, by the names in the details
	texts    []string // what the details say in words, in lower case
	status   int      // the HTTP status in the body of an answer that has none itself

	said   bool // the error names gcp as its provider
	spoken bool // the names and numbers of google.rpc.Code count
}

// googleExhausted: a stream that the server has reset with ENHANCE_YOUR_CALM comes to
// the same code (google.golang.org/grpc, internal/transport), but is no answer: what it
// asked for may have been done.
func googleExhausted(ev *evidence) (Kind, string, bool) {
	if ev.status == 0 && len(ev.header) == 0 && strings.Contains(ev.words(), "RST_STREAM with error code") {
		ev.local = true
	}
	if why, ok := ev.exhaustedForLong(); ok {
		return Fatal, why, true
	}
	return Throttled, ev.google.metric, true
}

func googleRate(ev *evidence) (Kind, string, bool) {
	if why, ok := ev.exhaustedForLong(); ok {
		return Fatal, why, true
	}
	return Throttled, join("rate limit", ev.google.metric), true
}

// googleQuota: quotaExceeded with a 403 is a quota of things or of the day; with a
// 429 the status says that it is a rate.
func googleQuota(ev *evidence) (Kind, string, bool) {
	if ev.status == 429 {
		return 0, "", false
	}
	return Fatal, "a quota is used up", true
}

func googleDisabled(ev *evidence) (Kind, string, bool) {
	why := "the API"
	if ev.google.service != "" {
		why += " " + ev.google.service
	}
	why += " is disabled"
	if ev.google.consumer != "" {
		why += " in " + ev.google.consumer
	}
	return Fatal, why, true
}

// googleDenied speaks up only for a 403 or a bare gRPC status; it decides nothing
// about a 503 that mentions it.
func googleDenied(ev *evidence) (Kind, string, bool) {
	if ev.status != 0 && ev.status != 403 {
		return 0, "", false
	}
	return Fatal, "permission denied", true
}

// googleCancelled: gRPC's client library turns the end of the caller's context into
// a status.
func googleCancelled(ev *evidence) (Kind, string, bool) {
	if ev.status != 0 {
		return 0, "", false
	}
	return Canceled, "", true
}

// readGoogle knows the JSON of a REST error ({"error":{…}}, also as the first
// element of a list) and of a bare google.rpc.Status. Reasons come before the
// status: they are what tells the 403s apart.
func readGoogle(ev *evidence) {
	if ev.doc.form != jsonForm {
		return
	}
	e := ev.googleBody()
	if e == nil {
		return
	}
	var reasons []string
	for _, d := range list(e["details"]) {
		if detail := object(d); detail != nil {
			reasons = append(reasons, ev.google.detail(detail)...)
		}
	}
	for _, item := range list(e["errors"]) {
		reasons = append(reasons, text(object(item), "reason"))
	}
	// A reason that the table does not know must not stand before the status code.
	// One that it knows decides before what the reader gave (PERMISSION_DENIED).
	var known []string
	for _, reason := range reasons {
		if _, ok := folded["gcp"][fold(reason)]; ok && cleanCode(reason) != "" {
			known = append(known, cleanCode(reason))
		}
	}
	ev.codes = append(known, ev.codes...)
	ev.addCode(text(e, "status"))
	if name := rpcCode(e["code"]); name != "" && ev.google.spoken {
		ev.addCode(name)
	}
	if ev.google.spoken || ev.provider == "" {
		ev.google.status = httpStatus(e["code"])
	}
	ev.addMessage(text(e, "message"))
}

// googleBody is the object of a body that has the parts of a google.rpc.Status, if
// there is one.
func (ev *evidence) googleBody() map[string]any {
	top := ev.doc.json
	if items := list(top); len(items) > 0 {
		top = items[0]
	}
	body := object(top)
	if e := object(body["error"]); e != nil {
		return e
	}
	if !rpcStatus(body) || ev.status >= 200 && ev.status < 300 {
		return nil
	}
	return body
}

// speaksGRPC tells whether the names and numbers of google.rpc.Code mean here what
// they mean to Google. Other APIs have a "code":14 and an "error":"internal" of
// their own, so for a provider beyond the four something must show it: details with
// a type, the headers of gRPC, an envelope that only Google or a gRPC gateway
// makes. An error that names no provider needs less.
func (ev *evidence) speaksGRPC() bool {
	if _, known := providers[ev.provider]; known {
		return ev.provider == "gcp"
	}
	if ev.google.said || len(values(ev.header, "grpc-status")) > 0 ||
		strings.HasPrefix(strings.ToLower(value(ev.header, "Content-Type")), "application/grpc") {
		return true
	}
	nobody := ev.provider == ""
	if nobody && ev.status == 0 && rpcHTTP[ev.code()] != 0 {
		return true
	}
	e := ev.googleBody()
	if e == nil {
		return false
	}
	details, gateway := e["details"].([]any)
	for _, d := range details {
		kind := text(object(d), "@type")
		if strings.Contains(kind, "type.googleapis.com/") || strings.HasPrefix(kind, "google.rpc.") {
			return true
		}
		gateway = false
	}
	name, number := text(e, "status"), rpcCode(e["code"])
	if want := rpcHTTP[name]; want != 0 && (httpStatus(e["code"]) == want || nobody && (ev.status == 0 || ev.status == want)) {
		return true
	}
	if number == "" {
		return false
	}
	agrees := ev.status == 0 || ev.status == rpcHTTP[number]
	if gateway {
		return agrees || nobody
	}
	// google.longrunning.Operation reports a failure in a success.
	body := object(ev.doc.json)
	done, _ := body["done"].(bool)
	return done && text(body, "name") != "" || nobody && agrees
}

// detail takes one element of details. Types are known by the end of their URL.
func (g *googleError) detail(d map[string]any) (reasons []string) {
	kind := text(d, "@type")
	kind = kind[strings.LastIndexByte(kind, '.')+1:]
	switch kind {
	case "ErrorInfo":
		meta := object(d["metadata"])
		reasons = append(reasons, text(d, "reason"))
		set(&g.consumer, text(meta, "consumer"))
		set(&g.service, text(meta, "service"))
		set(&g.metric, text(meta, "quota_metric"))
		g.counts(unitSpan(text(meta, "quota_unit")), nameSpan(text(meta, "quota_limit")), nameSpan(text(meta, "quota_metric")))
	case "RetryInfo":
		if d["retryDelay"] != nil && len(g.delays) < 16 {
			g.delays = append(g.delays, d["retryDelay"])
		}
	case "QuotaFailure":
		for _, v := range list(d["violations"]) {
			violation := object(v)
			g.counts(nameSpan(text(violation, "quotaId")), nameSpan(text(violation, "quotaMetric")))
			g.say(text(violation, "description"))
		}
	}
	return reasons
}

func (g *googleError) say(s string) {
	if s != "" && len(g.texts) < 64 {
		g.texts = append(g.texts, strings.ToLower(head(s, maxText)))
	}
}

func set(to *string, s string) {
	if *to == "" {
		*to = oneLine(s)
	}
}

// rpcStatus tells whether an object is a bare google.rpc.Status.
func rpcStatus(body map[string]any) bool {
	_, number := body["code"].(float64)
	return number || body["details"] != nil && body["error"] == nil
}

// rpcCodes are google.rpc.Code's names by number.
var rpcCodes = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// rpcCode names the number of a google.rpc.Status; REST errors have the HTTP status
// in the same place.
func rpcCode(v any) string {
	n, ok := v.(float64)
	if !ok || n < 1 || n >= float64(len(rpcCodes)) || n != float64(int(n)) {
		return ""
	}
	return rpcCodes[int(n)]
}

// rpcHTTP is the HTTP status that Google gives for each name (google/rpc/code.proto).
var rpcHTTP = map[string]int{"CANCELLED": 499, "UNKNOWN": 500, "INVALID_ARGUMENT": 400, "DEADLINE_EXCEEDED": 504, "NOT_FOUND": 404,
	"ALREADY_EXISTS": 409, "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400, "ABORTED": 409,
	"OUT_OF_RANGE": 400, "UNIMPLEMENTED": 501, "INTERNAL": 500, "UNAVAILABLE": 503, "DATA_LOSS": 500, "UNAUTHENTICATED": 401}

// httpStatus reads the HTTP status of an error that Google's REST APIs repeat in
// the body.
func httpStatus(v any) int {
	n, ok := v.(float64)
	if !ok || n < 400 || n > 599 || n != float64(int(n)) {
		return 0
	}
	return int(n)
}
