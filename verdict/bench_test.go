package verdict

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func BenchmarkExamine(b *testing.B) {
	for name, err := range map[string]error{
		"status": &ResponseError{Provider: "azure", StatusCode: 429, Header: http.Header{"Retry-After": {"5"}}},
		"aws":    fmt.Errorf("a: %w", &ResponseError{Provider: "aws", StatusCode: 400, Body: []byte(`{"__type":"com.amazonaws.ecs#ThrottlingException","message":"Rate exceeded"}`)}),
		"gcp":    &ResponseError{Provider: "gcp", StatusCode: 429, Body: []byte(`{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"53.5s"}]}}`)},
		"text":   &ResponseError{StatusCode: 502, Body: []byte(strings.Repeat("upstream said no = ", 600))},
		"eof":    fmt.Errorf("read: %w", io.EOF),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Examine("", err)
			}
		})
	}
}
