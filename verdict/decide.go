package verdict

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// read gets code, message and details out of header and body.
func (ev *evidence) read() {
	if !ev.found {
		ev.doc = &document{}
		return
	}
	ev.doc = parseDocument(ev.header, ev.body)
	ev.google.spoken = ev.speaksGRPC()
	for _, p := range ev.tables() {
		p.read(ev)
	}
	if ev.message == "" && ev.doc.form == plainText {
		ev.message = ev.doc.text
	}
	ev.silent = len(ev.codes) == 1 && sdkMade(ev.status, ev.codes[0], ev.message)
	if ev.doc.form == empty && ev.cause != nil && ev.status/100 == 2 && strings.HasPrefix(value(ev.header, "Content-Type"), "text/html") {
		ev.doc.form = html // the SDK has read the page and choked on it
	}
}

// sdkMade recognizes a code that an SDK made of the status line because the body
// was empty, as S3's for HEAD requests ("ServiceUnavailable", "Service
// Unavailable"). It says no more than the status does.
func sdkMade(status int, code, message string) bool {
	text := http.StatusText(status)
	return text != "" && message == text && code == strings.ReplaceAll(text, " ", "")
}

// decide judges one path: code, status, network cause, and the words last.
func (ev *evidence) decide() Result {
	ev.read()
	now := time.Now()
	h := ev.hint(now)
	ev.hinted = h.ok
	r := Result{
		Hint: h.wait, HasHint: h.ok, NoRepeat: h.noRepeat,
		Status: ev.status, Code: ev.code(), Message: oneLine(ev.message),
		Consumer: ev.google.consumer,
		Network:  ev.net.is, Usual: ev.net.usual,
	}
	if ev.status == 0 && ev.net.is {
		// A status without HTTP around a connection failure was made on this side.
		ev.local = true
	}
	switch {
	case ev.status != 0:
		// 407 and 511 are a proxy's.
		r.Answered = ev.status != http.StatusProxyAuthRequired && ev.status != http.StatusNetworkAuthenticationRequired
	case len(ev.codes) > 0:
		r.Answered = !ev.local
	}
	ev.judge(&r)
	if ev.status == 429 || ev.status == 503 && h.ok || ev.status == 0 && ev.net.neverMade {
		r.Unprocessed = true
	}
	if ev.local && ev.status == 0 {
		r.Answered = false // the words may have shown it only now
	}
	if r.Reason == "" {
		r.Reason = r.Kind.String()
	}
	return r
}

func (ev *evidence) judge(r *Result) {
	if ev.canceled {
		r.Kind, r.Reason = Canceled, "canceled by the caller"
		return
	}
	if ev.byCode(r) || ev.byAllowedMessage(r) || ev.byWordsAlone(r) {
		return
	}
	switch {
	case ev.status >= 400:
		ev.byStatus(r)
	case ev.status/100 == 2 && ev.doc.form == html:
		// A log-in page or a proxy's page where an API answers: the request may never
		// have got there.
		r.Kind, r.Answered, r.Reason = Fatal, false, "protocol: an HTML page with status "+strconv.Itoa(ev.status)+" where an API answers"
	case ev.byStatusName(r):
	case ev.net.set:
		r.Kind, r.Reason = ev.net.kind, ev.net.why
	case ev.status != 0:
		if ev.whole && len(ev.codes) == 0 {
			r.Kind, r.Reason = OK, "status "+strconv.Itoa(ev.status)
			return
		}
		r.Kind, r.Reason = Fatal, join("an error with status "+strconv.Itoa(ev.status), ev.code())
	default:
		ev.byText(r)
	}
}

// byCode: the provider's code decides first. Of several candidates the first known
// one counts: query-compatible services and batch answers have more than one.
func (ev *evidence) byCode(r *Result) bool {
	for _, code := range ev.codes {
		if ev.silent {
			break
		}
		rule, ok := ev.rule(code)
		if !ok {
			continue
		}
		kind, why := rule.kind, rule.why
		if rule.when != nil {
			if kind, why, ok = rule.when(ev); !ok {
				continue
			}
		}
		r.Kind, r.Code, r.Reason = kind, code, join("code "+code, why)
		r.Daily = why == dailyQuota
		// An error inside a 2xx came after the request had begun to run, and one that was
		// made on this side does not know.
		if kind == Throttled && !rule.mayHaveRun && !ev.local && !(200 <= ev.status && ev.status < 300) {
			r.Unprocessed = true
		}
		return true
	}
	return false
}

// byAllowedMessage: a text that is known to decide under a code that says nothing.
func (ev *evidence) byAllowedMessage(r *Result) bool {
	text := strings.ToLower(head(ev.words(), maxText))
	if !ev.found || text == "" {
		return false
	}
	_, known := providers[ev.provider]
	if _, ok := ev.statusName(); ok {
		known = false
	}
	for _, p := range ev.tables() {
		for _, m := range p.messages {
			if !strings.Contains(text, m.words) {
				continue
			}
			if m.code != "" && !ev.has(m.code) || m.code == "" && !known {
				continue
			}
			r.Kind, r.Reason = m.kind, join("code "+ev.code(), m.why)
			if ev.code() == "" {
				r.Reason = m.why
			}
			if m.code != "" {
				r.Code = m.code
			}
			return true
		}
	}
	return false
}

func (ev *evidence) has(code string) bool {
	for _, c := range ev.codes {
		if fold(c) == fold(code) {
			return true
		}
	}
	return false
}

// byWordsAlone: a body that says nothing but "rate exceeded" or the like counts as
// a code.
func (ev *evidence) byWordsAlone(r *Result) bool {
	if !ev.found || ev.status == 0 {
		return false
	}
	text := ev.message
	switch {
	case ev.doc.form == html, ev.doc.form == plainText:
		text = ev.doc.text // such a body has no code; if there is one the SDK made it
	case len(ev.codes) > 0:
		return false
	}
	if !onlyThrottleWords(text) {
		return false
	}
	r.Kind, r.Reason = Throttled, "the body says nothing but "+strconv.Quote(oneLine(text))
	if !(200 <= ev.status && ev.status < 300) {
		r.Unprocessed = true
	}
	return true
}

// byStatus judges a status of 400 and above.
func (ev *evidence) byStatus(r *Result) {
	status := "status " + strconv.Itoa(ev.status)
	if p, ok := providers[ev.provider]; ok {
		if f := p.statuses[ev.status]; f != nil {
			var why string
			r.Kind, why = f(ev)
			r.Reason = join(status, why)
			return
		}
	}
	r.Kind = statusKind(ev.status)
	r.Reason = join(status, ev.code())
}

// byStatusName: without HTTP the status is a name, or a number in the body of an
// answer whose own status was lost. Around a failure of the connection the name was
// made on this side, and that failure decides.
func (ev *evidence) byStatusName(r *Result) bool {
	if ev.status != 0 || ev.net.is {
		return false
	}
	if name, ok := ev.statusName(); ok {
		r.Kind, r.Code, r.Reason = Fatal, name, "status "+name
		return true
	}
	if n := ev.google.status; n != 0 {
		r.Kind, r.Answered, r.Reason = statusKind(n), !ev.local, join("status "+strconv.Itoa(n)+" in the body", ev.code())
		return true
	}
	return false
}

// statusKind is the meaning of a status of 400 and above that no code overrides
// (RFC 9110). The 5xx that the rules do not name are the server's trouble and may
// pass, except those that say that the request will never be understood.
func statusKind(status int) Kind {
	switch status {
	case 429, 503:
		return Throttled
	case 408, 500, 502, 504:
		return Transient
	case 501, 505, 506, 510, 511:
		return Fatal
	}
	if status >= 500 && status < 600 {
		return Transient
	}
	return Fatal
}

// byText: neither code, status nor network cause decided.
func (ev *evidence) byText(r *Result) {
	text := ev.message
	if text == "" {
		text = ev.top.Error()
	}
	if c, ok := unexportedCause(ev.top); ok && len(ev.codes) == 0 {
		r.Kind, r.Reason, r.Network, r.Usual = c.kind, c.why, c.kind != Canceled, c.usual
		r.Unprocessed = c.neverMade
		return
	}
	if phrase, ok := throttleWords(text); ok {
		r.Kind, r.Reason = Throttled, "the message says "+strconv.Quote(phrase)
		return
	}
	r.Kind = Fatal
	if c := ev.code(); c != "" {
		r.Reason = "code " + c
		return
	}
	r.Reason = "local: neither code, status nor network cause"
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}
