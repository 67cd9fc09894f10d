package aws

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// maxBody bounds what is read of a request to find out what it asks. Requests of
// inventories are far smaller; what is longer is passed on unread beyond it.
const maxBody = 1 << 20

// request is what was read of a request: the front's own part of a call.
type request struct {
	service  *service
	op       *operation // nil where the table has none
	account  string
	region   string
	name     string // of the operation
	head     bool   // HEAD: an answer has no body
	host     string
	form     url.Values     // query services, and the query string of the others
	body     map[string]any // of JSON services
	path     []string       // of REST services, unescaped
	page     cursor
	badToken bool
}

// param gives a parameter, wherever the protocol has it; "" is none.
func (q *request) param(name string) string {
	if v := q.form.Get(name); v != "" {
		return v
	}
	switch v := q.body[name].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// list gives the values of a parameter that is a list: Name.1, Name.2 and so on
// for EC2, Name.member.1 for the other query services.
func (q *request) list(name string) []string {
	var values []string
	for _, form := range []string{name + ".", name + ".member."} {
		for i := 1; q.form.Get(form+strconv.Itoa(i)) != ""; i++ {
			values = append(values, q.form.Get(form+strconv.Itoa(i)))
		}
	}
	return values
}

// has tells whether any parameter starts so.
func (q *request) has(prefix string) bool {
	for k := range q.form {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

// signature is what an Authorization header says.
type signature struct{ key, region, service string }

var credential = regexp.MustCompile(`^AWS4-(?:HMAC-SHA256 Credential=([^/,\s]{1,128})/[0-9]{8}/([a-z0-9-]{1,40})/([A-Za-z0-9_.-]{1,64})/aws4_request|ECDSA-P256-SHA256 Credential=([^/,\s]{1,128})/[0-9]{8}/([A-Za-z0-9_.-]{1,64})/aws4_request)[,\s]`)

// signed reads who signed a request for what.
func signed(r *http.Request) (signature, bool) {
	m := credential.FindStringSubmatch(r.Header.Get("Authorization"))
	switch {
	case m == nil:
		return signature{}, false
	case m[1] != "":
		return signature{m[1], m[2], m[3]}, true
	}
	// Signed for several regions at once; the first is as good as any.
	region, _, _ := strings.Cut(r.Header.Get("X-Amz-Region-Set"), ",")
	return signature{m[4], region, m[5]}, true
}

// unsigned is the service of requests that name none by their signature.
const unsigned = "unsigned"

// byVersion tells query services apart where no signature does.
var byVersion = map[string]string{
	"2016-11-15": "ec2", "2011-06-15": "sts", "2010-05-08": "iam", "2010-03-31": "sns", "2014-10-31": "rds", "2015-12-01": "elbv2",
}

var twelve = regexp.MustCompile(`[0-9]{12}`)

// read finds out what is asked. The body can be read again afterwards.
func read(r *http.Request, sig signature) *request {
	q := &request{region: sig.region, host: r.Host, form: r.URL.Query(), head: r.Method == http.MethodHead}
	target := r.Header.Get("X-Amz-Target")
	content := r.Header.Get("Content-Type")
	switch {
	case r.Header.Get("Smithy-Protocol") == "rpc-v2-cbor":
		q.service = serviceNamed(alias(sig.service, ""), json11).speaking(rpcCBOR)
		q.name = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] // /service/Name/operation/Name
		q.readCBOR(r)
	case target != "":
		q.name = target[strings.LastIndexByte(target, '.')+1:]
		q.service = serviceNamed(sig.service, json11)
		if strings.HasPrefix(content, "application/x-amz-json-1.0") {
			q.service = q.service.speaking(json10)
		} else {
			q.service = q.service.speaking(json11)
		}
		q.readJSON(r)
	case strings.HasPrefix(content, "application/x-www-form-urlencoded") || q.form.Has("Action"):
		q.readForm(r)
		if sig.service == unsigned {
			sig.service = cmp.Or(byVersion[q.form.Get("Version")], unsigned)
		}
		q.service = serviceNamed(alias(sig.service, q.form.Get("Version")), query)
		q.name = q.form.Get("Action")
	default:
		q.service = serviceNamed(sig.service, restJSON)
		q.rest(r)
	}
	q.name = name(q.name)
	return q
}

// rest finds the operation of a REST request.
func (q *request) rest(r *http.Request) {
	for part := range strings.SplitSeq(strings.Trim(r.URL.EscapedPath(), "/"), "/") {
		if text, err := url.PathUnescape(part); err == nil {
			q.path = append(q.path, text)
		}
	}
	if q.service.route != nil {
		if q.name = q.service.route(r.Method, q); q.name != "" {
			return
		}
	}
	q.name = r.Method
	for i, part := range q.path {
		if i == 2 {
			break // what follows are names of things
		}
		q.name += "/" + part
	}
}

func (q *request) readForm(r *http.Request) {
	text, whole := sim.Peek(r, maxBody)
	if !whole {
		return
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return
	}
	for k, v := range form {
		q.form[k] = append(q.form[k], v...)
	}
}

func (q *request) readJSON(r *http.Request) {
	if text, whole := sim.Peek(r, maxBody); whole {
		if json.Unmarshal(text, &q.body) != nil {
			q.body = nil
		}
	}
}

func (q *request) readCBOR(r *http.Request) {
	if text, whole := sim.Peek(r, maxBody); whole {
		if v, err := (&cborReader{b: text}).value(); err == nil {
			q.body, _ = v.(map[string]any)
		}
	}
}

// name makes what a client calls an operation fit to be shown and counted.
func name(text string) string {
	text = sim.Shown(text, 80)
	if text == "" {
		return "unknown"
	}
	return text
}
