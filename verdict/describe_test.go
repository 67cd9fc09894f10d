package verdict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestS2_8_Describe(t *testing.T) {
	throttle := &ResponseError{Provider: "azure", StatusCode: 429, Code: "TooManyRequests", Message: "Too many"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("no such profile"), "no such profile"},
		{throttle, "throttled: azure: status 429: TooManyRequests: Too many"},
		{fmt.Errorf("list: %w", throttle), "throttled: list: azure: status 429: TooManyRequests: Too many"},
		{fmt.Errorf("throttled: %w", throttle), "throttled: azure: status 429: TooManyRequests: Too many"},
		{errors.New(Describe(throttle)), "throttled: azure: status 429: TooManyRequests: Too many"},
		{fmt.Errorf("list: %s", Describe(throttle)), "throttled: list: azure: status 429: TooManyRequests: Too many"},
		{errors.New("throttled: throttled: a: throttled: throttled: b"), "throttled: a: b"},
		{errors.New("request throttled: rate exceeded"), "throttled: request throttled: rate exceeded"}, // a server's own words
		{&ownError{kind: Throttled}, "throttled: circuit open"},
		{io.EOF, "EOF"},
		{context.Canceled, "context canceled"},
	} {
		if got := Describe(c.err); got != c.want {
			t.Errorf("Describe(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

// codeAndStatus has the plain methods by which errors of an SDK are known, which
// name no provider.
type codeAndStatus struct {
	code   string
	status int
}

func (e codeAndStatus) Error() string       { return e.code }
func (e codeAndStatus) ErrorCode() string   { return e.code }
func (e codeAndStatus) HTTPStatusCode() int { return e.status }

// The text says throttled exactly where ClassifyFor does.
func TestS2_8_DescribeForAProvider(t *testing.T) {
	for _, err := range []error{
		nil, codeAndStatus{"ServiceUnavailable", 503}, codeAndStatus{"ProvisionedThroughputExceededException", 400},
		codeAndStatus{"RESOURCE_EXHAUSTED", 400}, codeAndStatus{"UNAVAILABLE", 400}, codeAndStatus{"TEMPORARILY_UNAVAILABLE", 429},
		codeAndStatus{"RetryableErrorDueToAnotherOperation", 429}, &ResponseError{StatusCode: 503}, &ownError{kind: Throttled},
		fmt.Errorf("list: %w", codeAndStatus{"ServiceUnavailable", 503}), errors.Join(io.EOF, codeAndStatus{"ServiceUnavailable", 503}),
	} {
		if Describe(err) != DescribeFor("", err) {
			t.Errorf("%v: %q, %q", err, Describe(err), DescribeFor("", err))
		}
		for _, provider := range []string{"", "aws", "azure", "gcp", "databricks", "acme"} {
			want := ""
			if err != nil {
				want = err.Error()
			}
			if ClassifyFor(provider, err) == Throttled {
				want = "throttled: " + want
			}
			if got := DescribeFor(provider, err); got != want {
				t.Errorf("%q %v: %q, want %q", provider, err, got, want)
			}
		}
	}
	err := codeAndStatus{"ServiceUnavailable", 503}
	if aws, azure := DescribeFor("aws", err), DescribeFor("azure", err); aws != "ServiceUnavailable" || azure != "throttled: ServiceUnavailable" {
		t.Errorf("aws %q, azure %q", aws, azure)
	}
}

func TestResponseErrorText(t *testing.T) {
	for _, c := range []struct {
		err  *ResponseError
		want string
	}{
		{nil, "<nil>"},
		{&ResponseError{}, "empty response error"},
		{&ResponseError{StatusCode: 502}, "status 502"},
		{&ResponseError{StatusCode: 502, Err: io.ErrUnexpectedEOF}, "status 502: unexpected EOF"},
		{&ResponseError{Provider: "aws", StatusCode: 400, Code: "Throttling", Message: "Rate\nexceeded"}, "aws: status 400: Throttling: Rate exceeded"},
		{&ResponseError{Provider: "aws", StatusCode: 400, Body: []byte(`{"__type":"x#Throttling","message":"slow"}`)}, "aws: status 400: Throttling: slow"},
		{&ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Message: "closing", Err: errors.New("rpc error: closing")}, "gcp: UNAVAILABLE: closing"},
		{&ResponseError{StatusCode: 400, Message: "a", Err: errors.New("b")}, "status 400: a: b"},
	} {
		got := "<nil>"
		if c.err != nil {
			got = c.err.Error()
		} else if s := (*ResponseError)(nil).Error(); s != "<nil>" || (*ResponseError)(nil).Unwrap() != nil {
			t.Errorf("nil: %q", s)
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNothingSecret(t *testing.T) {
	const secret = "Sup3rS3cretValue0123456789abcdef"
	for _, text := range []string{
		"Get https://x.blob.core.windows.net/c?sv=1&sig=" + secret + "&se=2",
		"GET https://s3.amazonaws.com/?X-Amz-Credential=" + secret + "&X-Amz-Signature=" + secret,
		"token Bearer " + secret + " refused",
		"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, SignedHeaders=host, Signature=5e1f0123456789abcdef0123456789abcdef5e1f0123456789abcdef01234567",
		"jwt eyJhbGciOiJIUzI1NiJ9." + secret + "." + secret,
		"dapi0123456789abcdef0123456789abcdef",
		"https://user:" + secret + "@host/",
		"?client_secret=" + secret,
	} {
		for name, got := range map[string]string{
			"message":  Examine("", &ResponseError{StatusCode: 400, Message: text}).Message,
			"describe": Describe(errors.New(text)),
			"error":    (&ResponseError{Message: text}).Error(),
		} {
			if strings.Contains(got, secret) || strings.Contains(got, "0123456789abcdef0123456789abcdef") || !strings.Contains(got, "…") {
				t.Errorf("%s of %q: %q", name, text, got)
			}
		}
	}
	// The error of net/http has the whole URL in it.
	err := &url.Error{Op: "Get", URL: "https://h/?sig=" + secret, Err: io.EOF}
	if got := Describe(err); got != `Get "https://h/?sig=…": EOF` {
		t.Errorf("%q", got)
	}
	if got := scrub("key=5 is no secret, nor is a=b"); got != "key=5 is no secret, nor is a=b" {
		t.Errorf("%q", got)
	}
}

// A secret that the bound of the search cuts in two stays a secret.
func TestNothingSecretAtTheBound(t *testing.T) {
	url := "https://h/?sig=" + strings.Repeat("x", maxScrubbed-200) // leaves room in the message
	for n := range 160 {
		text := url + " " + strings.Repeat("y", n) + " dapi0123456789abcdef0123456789abcdef and more " + strings.Repeat("z", 200)
		if got := oneLine(text); strings.Contains(got, "dapi0") || len(got) > maxMessage {
			t.Fatalf("%d: %q", n, got)
		}
	}
}

func TestMessageIsOneBoundedLine(t *testing.T) {
	r := Examine("", &ResponseError{StatusCode: 400, Message: "a\r\n\x00b\t c\xff" + strings.Repeat("é", 1000)})
	if !strings.HasPrefix(r.Message, "a b c\uFFFD") || len(r.Message) > maxMessage || !utf8.ValidString(r.Message) || !strings.HasSuffix(r.Message, "é…") {
		t.Errorf("%q (%d)", r.Message, len(r.Message))
	}
}
