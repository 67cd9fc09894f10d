package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// classify runs the command as the program does.
func classify(t *testing.T, input io.Reader, args ...string) (lines []string, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newClassifyCommand()
	cmd.SetArgs(args)
	cmd.SetIn(input)
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.Execute()
	text := out.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("the last line has no end: %q", text)
	}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, err
}

// The cases of this field that one response can express, and the rules that go
// with them. testdata/classify/NAME.jsonl is read, NAME.want.jsonl is what is
// right; a wanted reason is part of the one given.
func TestClassifyCases(t *testing.T) {
	files, err := filepath.Glob("testdata/classify/*.want.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, wanted := range files {
		name := strings.TrimSuffix(filepath.Base(wanted), ".want.jsonl")
		t.Run(name, func(t *testing.T) {
			got, err := classify(t, nil, strings.TrimSuffix(wanted, ".want.jsonl")+".jsonl")
			if err != nil {
				t.Error(err)
			}
			want := readLines(t, wanted)
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d", len(got), len(want))
			}
			for i := range want {
				compare(t, got[i], want[i])
			}
		})
	}
}

func readLines(t *testing.T, name string) (lines []string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return lines
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := object(t, got), object(t, want)
	for _, field := range []string{"id", "scope", "kind", "retry_after_seconds", "retry", "pause"} {
		value, ok := g[field]
		if !ok {
			t.Errorf("%s: no %s", want, field)
			continue
		}
		a, isNumber := value.(float64)
		b, _ := w[field].(float64)
		if isNumber && math.Abs(a-b) <= 1e-9*math.Abs(b) && w[field] != nil {
			continue
		}
		if !reflect.DeepEqual(value, w[field]) {
			t.Errorf("%v: %s is %v, want %v (%v)", w["id"], field, value, w[field], g["reason"])
		}
	}
	reason, _ := g["reason"].(string)
	part, _ := w["reason"].(string)
	if reason == "" || strings.ContainsAny(reason, "\r\n") || !strings.Contains(reason, part) {
		t.Errorf("%v: reason %q, want %q in it", w["id"], reason, part)
	}
	if len(g) != 7 {
		t.Errorf("%s: not the seven fields", got)
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestClassifyLinesThatCannotBeRead(t *testing.T) {
	good := `{"id":"good","status":429}`
	for name, tc := range map[string]struct{ line, want string }{
		"no JSON":          {`hello`, `{"line":2,"error":"not JSON: `},
		"cut off":          {`{"id":1,"status":`, `{"line":2,"error":"not JSON: `},
		"two values":       {`{"status":200} {"status":200}`, `{"line":2,"error":"not JSON: `},
		"no object":        {`[1]`, `{"line":2,"error":"a JSON array where an object is expected"}`},
		"a wrong type":     {`{"id":"x","status":"429"}`, `{"id":"x","line":2,"error":"status: a JSON string does not fit"}`},
		"nothing happened": {`{"id":7}`, `{"id":7,"line":2,"error":"one of status, grpc and error is needed"}`},
		"null":             {`null`, `{"line":2,"error":"one of status, grpc and error is needed"}`},
		"unknown error":    {`{"id":"x","error":"EWHAT"}`, `{"id":"x","line":2,"error":"error: \"EWHAT\" is not known"}`},
		"unknown code":     {`{"id":"x","grpc":{"code":"BUSY"}}`, `{"id":"x","line":2,"error":"grpc: \"BUSY\" is no code"}`},
		"no code":          {`{"id":"x","grpc":{}}`, `{"id":"x","line":2,"error":"grpc: code is missing"}`},
		"a bad URL":        {`{"id":"x","status":200,"url":"https://user:secret@%zz/"}`, `{"id":"x","line":2,"error":"url: invalid URL escape \"%zz\""}`},
		"a bad time":       {`{"id":"x","status":200,"received_at":"yesterday"}`, `{"id":"x","line":2,"error":"`},
		"a bad header":     {`{"id":"x","status":200,"headers":{"A":{}}}`, `{"id":"x","line":2,"error":"headers: A: neither a text nor a list of texts"}`},
		"a bad status":     {`{"id":"x","status":-1}`, `{"id":"x","line":2,"error":"status: -1 is none"}`},
		"too long":         {`{"id":"` + strings.Repeat("x", maxRecord) + `"}`, `{"line":2,"error":"the line is longer than 16777216 bytes"}`},
	} {
		lines, err := classify(t, strings.NewReader(good+"\n"+tc.line+"\n"+good))
		if len(lines) != 3 || !strings.HasPrefix(lines[1], tc.want) {
			t.Errorf("%s: got %.300q", name, lines)
			continue
		}
		if lines[0] != lines[2] || !strings.Contains(lines[0], `"kind":"throttled"`) {
			t.Errorf("%s: the lines around it: %s %s", name, lines[0], lines[2])
		}
		if strings.Contains(lines[1], "secret") {
			t.Errorf("%s: %s", name, lines[1])
		}
		var exit *exitError
		if !errors.As(err, &exit) || exit.code != exitBroken || err.Error() != "1 of 3 lines could not be read" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClassifyLineEnds(t *testing.T) {
	const answer = `{"id":1,"scope":"http/*/*/web","kind":"ok","retry_after_seconds":null,"retry":false,"pause":"","reason":"status 200"}`
	for name, input := range map[string]string{
		"LF": "{\"id\":1,\"status\":200}\n", "CRLF": "{\"id\":1,\"status\":200}\r\n", "no end": `{"id":1,"status":200}`,
		"blank lines": "\n  \r\n\n{\"id\":1,\"status\":200}\n\n", "BOM": "\xef\xbb\xbf{\"id\":1,\"status\":200}\n",
	} {
		if lines, err := classify(t, strings.NewReader(input)); err != nil || len(lines) != 1 || lines[0] != answer {
			t.Errorf("%s: %q %v", name, lines, err)
		}
	}
	if lines, err := classify(t, strings.NewReader("")); err != nil || len(lines) != 0 {
		t.Errorf("nothing: %q %v", lines, err)
	}
	// A line of just the bound is read.
	record := `{"status":200,"body":"` + strings.Repeat("x", maxRecord-24) + `"}`
	if lines, err := classify(t, strings.NewReader(record+"\n"+record)); err != nil || len(lines) != 2 || len(record) != maxRecord {
		t.Errorf("%d bytes: %.200q %v", len(record), lines, err)
	}
}

// TestClassifyAnswersAtOnce: the answer to a line comes before the end of the
// next one, of which a pipe may hold any part.
func TestClassifyAnswersAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	cmd := newClassifyCommand()
	cmd.SetArgs(nil)
	cmd.SetIn(in)
	cmd.SetOut(out)
	done := make(chan error, 1)
	go func() {
		err := cmd.Execute()
		out.Close()
		done <- err
	}()
	if _, err := io.WriteString(feed, "{\"id\":1,\"status\":200}\n{\"id\":2,"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answers)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":1`) {
		t.Errorf("first answer: %q (%v)", lines.Text(), lines.Err())
	}
	go func() {
		_, _ = io.WriteString(feed, "\"status\":200}\n")
		feed.Close()
	}()
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":2`) {
		t.Errorf("second answer: %q (%v)", lines.Text(), lines.Err())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClassifyFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"id":"`+name+`","status":200}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := classify(t, strings.NewReader(`{"id":"in","status":200}`), filepath.Join(dir, "b"), "-", filepath.Join(dir, "a"))
	if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], `{"id":"b"`) || !strings.HasPrefix(lines[1], `{"id":"in"`) || !strings.HasPrefix(lines[2], `{"id":"a"`) {
		t.Errorf("%q %v", lines, err)
	}
	lines, err = classify(t, nil, filepath.Join(dir, "a"), filepath.Join(dir, "none"))
	if !errors.Is(err, os.ErrNotExist) || len(lines) != 1 {
		t.Errorf("%q %v", lines, err)
	}
}

func TestClassifyScopes(t *testing.T) {
	for _, tc := range []struct{ record, want string }{
		{`"provider":"aws","url":"https://sts.amazonaws.com/"`, "aws/*/*/sts"},
		{`"provider":"aws","url":"https://iam.amazonaws.com/"`, "aws/*/aws-global/iam"},
		{`"provider":"aws","url":"https://organizations.us-east-1.amazonaws.com/"`, "aws/*/aws-global/organizations"},
		{`"provider":"aws","url":"https://iam.us-gov.amazonaws.com/","service":"iam"`, "aws/*/aws-us-gov-global/iam"},
		{`"provider":"aws","url":"https://iam.eusc-de-east-1.amazonaws.eu/"`, "aws/*/aws-eusc-global/iam"},
		{`"provider":"aws","url":"https://artifact.us-east-1.amazonaws.com/"`, "aws/*/aws-global/artifact"},
		{`"provider":"aws","url":"https://sqs.amazonaws.com.cn/"`, "aws/*/*/sqs"},
		{`"provider":"aws","url":"https://iam.cn-north-1.amazonaws.com.cn/"`, "aws/*/aws-cn-global/iam"},
		{`"provider":"aws","url":"https://s3.dualstack.us-east-2.amazonaws.com/b/k"`, "aws/*/us-east-2/s3"},
		{`"provider":"aws","url":"https://a.b.s3.us-gov-west-1.amazonaws.com/k"`, "aws/*/us-gov-west-1/s3"},
		{`"provider":"aws","url":"https://s3-us-west-2.amazonaws.com/b"`, "aws/*/*/s3"},
		{`"provider":"aws","url":"https://api.ecr.eu-west-1.amazonaws.com/"`, "aws/*/eu-west-1/ecr"},
		{`"provider":"aws","url":"https://streams.dynamodb.eu-west-1.amazonaws.com/"`, "aws/*/eu-west-1/dynamodbstreams"},
		{`"provider":"aws","url":"https://sts-fips.us-east-1.amazonaws.com/"`, "aws/*/us-east-1/sts"},
		{`"provider":"aws","url":"https://lambda.us-east-1.api.aws/"`, "aws/*/us-east-1/lambda"},
		{`"provider":"aws","url":"http://localhost:4566/","service":"EC2"`, "aws/*/*/ec2"},
		{`"url":"https://cloudcontrolapi.eu-central-1.amazonaws.com/","headers":{"x-amz-target":["CloudApiService.ListResources"]}`, "aws/*/eu-central-1/cloudcontrol/ListResources"},
		{`"url":"https://management.azure.com/subscriptions/ABC/resourceGroups?api-version=1"`, "azure/abc/*/resources"},
		{`"url":"https://management.azure.com/subscriptions/ABC/providers/Microsoft.Compute/virtualMachines/v/providers/Microsoft.Insights/metrics"`, "azure/abc/*/insights"},
		{`"url":"https://management.azure.com/subscriptions/ABC/providers/Microsoft.ResourceGraph/resources"`, "azure/*/*/resourcegraph"},
		{`"url":"https://cloudasset.googleapis.com/v1/organizations/12/assets:list"`, "gcp/organizations/12/*/cloudasset"},
		{`"url":"https://cloudresourcemanager.googleapis.com/v3/folders/7:search"`, "gcp/folders/7/*/cloudresourcemanager"},
		{`"url":"https://www.googleapis.com/compute/v1/projects/p/zones"`, "gcp/projects/p/*/compute"},
		{`"url":"https://dbc-1.cloud.databricks.com/api/2.1/jobs/runs/get?run_id=5"`, "databricks/dbc-1.cloud.databricks.com/*/jobs/GET /api/2.1/jobs/runs/get"},
		{`"url":"https://dbc-1.cloud.databricks.com/api/2.0/sql/statements/01ef-9/result/chunks/3"`, "databricks/dbc-1.cloud.databricks.com/*/sqlexec/GET /api/2.0/sql/statements/{id}/result/chunks/{id}"},
		{`"url":"http://[::1]:8080/x"`, "http/[::1]:8080/*/web"},
		{`"provider":"a/b"`, "a%2Fb/*/*/web"},
	} {
		lines, err := classify(t, strings.NewReader(`{"status":200,`+tc.record+`}`))
		if err != nil || len(lines) != 1 {
			t.Errorf("%s: %q %v", tc.record, lines, err)
			continue
		}
		if got := object(t, lines[0])["scope"]; got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.record, got, tc.want)
		}
	}
}

// What is outside data stays on one line and does not end the program.
func FuzzClassify(f *testing.F) {
	files, err := filepath.Glob("testdata/classify/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if strings.Contains(name, ".want.") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			f.Add(bytes.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(bytes.ReplaceAll(line, []byte("\n"), nil))
		lines, _ := classify(t, bytes.NewReader(line))
		want := 1
		if len(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))) == 0 {
			want = 0
		}
		if len(lines) != want {
			t.Fatalf("%d lines for %q", len(lines), line)
		}
		for _, l := range lines {
			object(t, l)
		}
	})
}
