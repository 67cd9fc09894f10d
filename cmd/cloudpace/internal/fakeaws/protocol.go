package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// protocol is a way to word questions and answers.
type protocol int

const (
	query protocol = iota
	ec2
	json1
	restJSON
	restXML
	// unread is one that is newer than the emulators and proxies out there.
	unread
)

// Empty answers that nothing is there.
func Empty(r Request) (int, string) { return r.text(nil) }

// tokens are the members by which APIs give the next page, and say that there is
// one.
var tokens = []struct{ name, value string }{
	{"nextToken", `"again"`}, {"NextToken", `"again"`}, {"Marker", `"again"`}, {"NextMarker", `"again"`}, {"position", `"again"`},
	{"PaginationToken", `"again"`}, {"ContinuationToken", `"again"`}, {"LastEvaluatedTableName", `"again"`}, {"NextRecordName", `"again"`},
	{"IsTruncated", "true"}, {"Truncated", "true"}, {"HasMoreStreams", "true"},
}

// Again answers that nothing is on this page, and that there is one more, with
// the same token every time. Who does not read tokens sees Empty.
func Again(r Request) (int, string) {
	var members []string
	for _, t := range tokens {
		members = append(members, t.name, t.value)
	}
	return r.text(members)
}

// text words an answer with members, names and JSON values in turn.
func (r Request) text(members []string) (int, string) {
	var b strings.Builder
	switch r.protocol {
	case unread:
		return Fail(http.StatusNotImplemented, "NotImplemented")(r)
	case json1, restJSON:
		b.WriteByte('{')
		for i := 0; i < len(members); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", members[i], members[i+1])
		}
		b.WriteByte('}')
		return http.StatusOK, b.String()
	}
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, "<%[1]s>%[2]s</%[1]s>", members[i], strings.Trim(members[i+1], `"`))
	}
	switch r.protocol {
	case query:
		return http.StatusOK, fmt.Sprintf("<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>", r.name, b.String())
	case ec2:
		return http.StatusOK, fmt.Sprintf("<%[1]sResponse>%[2]s</%[1]sResponse>", r.name, b.String())
	}
	// Each service has a root and a list of its own; those it does not know it passes
	// over.
	return http.StatusOK, "<Answer><Buckets/><DistributionList/><HostedZones/><ResourceRecordSets/>" + b.String() + "</Answer>"
}

// failure words an error.
func (r Request) failure(code string) string {
	switch {
	case r.protocol == ec2:
		return fmt.Sprintf("<Response><Errors><Error><Code>%s</Code><Message>no</Message></Error></Errors><RequestID>1</RequestID></Response>", code)
	case strings.HasPrefix(r.Op, "s3."):
		return fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
	case r.protocol == query, r.protocol == restXML:
		return fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error><RequestId>1</RequestId></ErrorResponse>", code)
	}
	text, err := json.Marshal(map[string]string{"__type": code, "message": "no"})
	if err != nil {
		panic(err) // two strings
	}
	return string(text)
}
