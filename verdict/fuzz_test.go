package verdict

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"5", "1.5", "10, 20", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "-1", "99999999999999999999", "2.03:04:05.5", ", "} {
		f.Add(s)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		for _, exp := range []int{6, 9} {
			if d, ok := parseDecimal(s, exp); d < 0 || ok && strings.Trim(s, "0123456789.") != "" {
				t.Errorf("parseDecimal(%q, %d) = %v, %v", s, exp, d, ok)
			}
		}
		if d, _ := parseTimeSpan(s); d < 0 {
			t.Errorf("parseTimeSpan(%q) = %v", s, d)
		}
		d, ok := parseList(s, func(s string) (time.Duration, bool) { return parseRetryAfter(s, now) })
		again, ok2 := parseList(" "+s+"\t", func(s string) (time.Duration, bool) { return parseRetryAfter(s, now) })
		if d != again || ok != ok2 {
			t.Errorf("%q: white space around it matters: %v, %v", s, d, again)
		}
	})
}

// What this reads, package net/http reads to the same instant, where it reads it.
func FuzzHTTPDate(f *testing.F) {
	for _, s := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sat, 31 Dec 2016 23:59:60 GMT", "Monday, 29-Feb-96 00:00:00 GMT"} {
		f.Add(s)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseHTTPDate(s, now)
		if !ok {
			return
		}
		if got.Location() != time.UTC || got.Nanosecond() != 0 {
			t.Errorf("%q: %v", s, got)
		}
		if want, err := http.ParseTime(s); err == nil && !want.Equal(got) && (want.Year()-got.Year())%100 != 0 {
			t.Errorf("%q: %v, net/http %v", s, got, want)
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{`{"error":{"code":"X","details":[{"code":"TooManyRequests","message":"{\"endTime\":\"2030-01-01T00:00:00Z\"}"}]}}`, `<Error><Code>SlowDown</Code></Error>`, "<html>Too Many Requests</html>", "Rate exceeded", gz("{}"), `[{"error":{"code":8,"details":[{"@type":"google.rpc.RetryInfo","retryDelay":{"seconds":"5","nanos":7}}]}}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := parseDocument(nil, body)
		if len(d.xmlCodes) > 32 || len(d.text) > 2*maxBody {
			t.Errorf("unbounded: %d codes, %d bytes of text", len(d.xmlCodes), len(d.text))
		}
		_ = onlyThrottleWords(d.text)
		_ = aboutRate(string(body))
	})
}

func FuzzExamine(f *testing.F) {
	f.Add("aws", 400, "Throttling", "Rate exceeded", "Retry-After", "5", []byte(`{"__type":"x#Throttling"}`))
	f.Add("azure", 429, "", "", "x-ms-user-quota-resets-after", "00:00:05", []byte(`{"error":{"code":"OperationNotAllowed","details":[{"code":"TooManyRequests"}]}}`))
	f.Add("gcp", 0, "UNAVAILABLE", "transport is closing", "grpc-retry-pushback-ms", "-1", []byte(`{"code":8,"details":[{"@type":"google.rpc.RetryInfo","retryDelay":"5s"}]}`))
	f.Add("databricks", 503, "", "has not been initialized", "x-amz-retry-after", "1", []byte(`{"error_code":"REQUEST_LIMIT_EXCEEDED"}`))
	f.Add("", 200, "", "", "Content-Type", "text/html", []byte("<html>"))
	f.Fuzz(func(t *testing.T, provider string, status int, code, message, key, value string, body []byte) {
		r := &ResponseError{StatusCode: status, Code: code, Message: message, Header: http.Header{key: {value}}, Body: body}
		for _, err := range []error{r, errors.Join(r, io.EOF), &ResponseError{Provider: provider, Body: body, Err: r}, errors.New(message), errors.New(r.Error())} {
			got := Examine(provider, err)
			if strings.HasPrefix(got.Reason, "the error cannot be read") {
				t.Fatalf("panic: %s", got.Reason)
			}
			if got.Hint < 0 || !got.HasHint && got.Hint != 0 {
				t.Errorf("hint %v, %v", got.Hint, got.HasHint)
			}
			if got.Kind < OK || got.Kind > Canceled || got.Reason == "" {
				t.Errorf("%+v", got)
			}
			for _, s := range []string{got.Message, got.Code, got.Reason, got.Consumer} {
				if len(s) > 2*maxMessage || strings.ContainsAny(s, "\r\n\x00") || !utf8.ValidString(s) {
					t.Errorf("not fit for a log line: %q", s)
				}
			}
			if again := Examine(provider, err); again.Kind != got.Kind || again.Reason != got.Reason {
				t.Errorf("%+v, then %+v", got, again)
			}
			text := Describe(err)
			if strings.HasPrefix(text, "throttled: ") != (Classify(err) == Throttled || strings.HasPrefix(err.Error(), "throttled: ")) {
				t.Errorf("Describe: %q for %v", text, Classify(err))
			}
			text = DescribeFor(provider, err)
			if strings.HasPrefix(text, "throttled: ") != (got.Kind == Throttled || strings.HasPrefix(err.Error(), "throttled: ")) {
				t.Errorf("DescribeFor %q: %q for %v", provider, text, got.Kind)
			}
		}
	})
}
