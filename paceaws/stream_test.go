package paceaws

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudpace/cloudpace"
)

const s3Scope = "aws/" + account + "/us-east-1/s3"

func pathStyle(o *s3.Options) { o.UsePathStyle = true }

// Every part of the transfer manager's is a call.
func TestS10_1_TransferManager(t *testing.T) {
	t.Parallel()
	c := serve(t, func(n int, r request) answer {
		q := r.URL.Query()
		switch {
		case q.Has("uploads"):
			return bare(200, "application/xml", "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case q.Has("partNumber"):
			return answer{status: 200, header: map[string]string{"ETag": `"e"`}}
		}
		return bare(200, "application/xml", "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")
	})
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 2 }))
	manager := transfermanager.New(s3.NewFromConfig(c.installed(t, g), pathStyle), func(o *transfermanager.Options) {
		o.PartSizeBytes, o.MultipartUploadThreshold = 5<<20, 1
	})
	_, err := manager.UploadObject(t.Context(), &transfermanager.UploadObjectInput{
		Bucket: aws.String("b"), Key: aws.String("k"), Body: strings.NewReader(strings.Repeat("x", 11<<20)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.sent() < 4 {
		t.Errorf("%d requests are no multipart upload", c.sent())
	}
	equal(t, "calls", totals(g, s3Scope).Calls, c.sent())
	equal(t, "slots in use", slotsInUse(g), 0)
}

// Event streams return at the headers too.
func TestS10_4_EventStreamEndsAtTheHeaders(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-end
	}))
	defer srv.Close()
	defer close(end)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	cfg := (&cloud{url: srv.URL, client: &http.Client{Transport: transport}}).installed(t, g)
	client := s3.NewFromConfig(cfg, pathStyle)
	for i := range 2 { // the second would wait for ever for the first one's slot
		out, err := client.SelectObjectContent(t.Context(), &s3.SelectObjectContentInput{
			Bucket: aws.String("b"), Key: aws.String(fmt.Sprint(i)), Expression: aws.String("select * from s3object"),
			ExpressionType: types.ExpressionTypeSql, InputSerialization: &types.InputSerialization{}, OutputSerialization: &types.OutputSerialization{},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer out.GetStream().Close()
		equal(t, "slots in use", slotsInUse(g), 0)
	}
	equal(t, "calls", totals(g, s3Scope).Calls, 2)
}
