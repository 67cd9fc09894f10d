package verdict

import "strings"

// aws: the throttle and transient codes of botocore's and the Go SDK's retry
// tables (aws-sdk-go-v2 aws/retry, botocore data/_retry.json), S3's, EC2's and Route
// 53's API references, and conflicts that pass (IAM, Organizations, S3).
var aws = provider{
	codes: map[string]rule{
		"Throttling":                             {kind: Throttled},
		"ThrottlingException":                    {kind: Throttled},
		"ThrottledException":                     {kind: Throttled},
		"RequestThrottledException":              {kind: Throttled},
		"RequestThrottled":                       {kind: Throttled},
		"TooManyRequestsException":               {kind: Throttled},
		"ProvisionedThroughputExceededException": {kind: Throttled},
		"TransactionInProgressException":         {kind: Throttled},
		"RequestLimitExceeded":                   {kind: Throttled},
		"BandwidthLimitExceeded":                 {kind: Throttled},
		"SlowDown":                               {kind: Throttled},
		"PriorRequestNotComplete":                {kind: Throttled},
		"EC2ThrottledException":                  {kind: Throttled},
		"RateExceeded":                           {kind: Throttled},
		"LimitExceededException":                 {kind: Throttled, when: awsLimit},
		"LimitExceeded":                          {kind: Throttled, when: awsLimit},
		// The call ran and one of its own calls was throttled.
		"InvalidParameterValueException": {kind: Throttled, when: lambdaQuote, mayHaveRun: true},

		"RequestTimeout":          {kind: Transient},
		"RequestTimeoutException": {kind: Transient},
		"InternalError":           {kind: Transient},
		"InternalFailure":         {kind: Transient},
		"InternalServerError":     {kind: Transient},
		"InternalServiceError":    {kind: Transient},
		"ServiceUnavailable":      {kind: Transient, apart: true}, // an Azure 503 asks for less
		"IDPCommunicationError":   {kind: Transient},

		"ConcurrentModification":          {kind: Transient, why: "a conflict that passes"},
		"ConcurrentModificationException": {kind: Transient, why: "a conflict that passes"},
		"EntityTemporarilyUnmodifiable":   {kind: Transient, why: "a conflict that passes"},
		"OperationAborted":                {kind: Transient, why: "a conflict that passes"},
	},
	messages: []messageRule{
		// ECS hands on the throttling of a service it asks.
		{"ClientException", "throttling", Throttled, "it quotes a throttle of another service"},
		// Cloud Control hides a handler's throttle behind its generic code.
		{"GeneralServiceException", "rate exceeded", Throttled, "it quotes a throttle of the resource's service"},
		{"GeneralServiceException", "throttl", Throttled, "it quotes a throttle of the resource's service"},
		// API Gateway v2 has no code for it.
		{"BadRequestException", "concurrent modification", Transient, "a conflict that passes"},
	},
	read: readAWS,
}

// awsLimit: LimitExceededException is the name of rate limits and of quotas of
// things. The message tells, or the status (S2.6).
func awsLimit(ev *evidence) (Kind, string, bool) {
	switch {
	case ev.status == 429:
		return Throttled, "status 429", true
	case aboutRate(ev.words()):
		return Throttled, "its message is about a rate", true
	}
	return Fatal, "a quota, not a rate", true
}

// lambdaQuote: Lambda's InvalidParameterValueException quotes the EC2 throttle that
// met Lambda while it looked at the function's network.
func lambdaQuote(ev *evidence) (Kind, string, bool) {
	if strings.Contains(ev.words(), "RequestLimitExceeded") {
		return Throttled, "it quotes EC2's RequestLimitExceeded", true
	}
	return 0, "", false
}

// readAWS knows the envelopes of all AWS protocols: the headers of query-compatible
// and REST-JSON services, XML <Code>, JSON __type and code, and Cloud Control's
// progress event inside a 200.
func readAWS(ev *evidence) {
	ev.addCode(value(ev.header, "x-amzn-query-error"))
	ev.addCode(value(ev.header, "x-amzn-errortype"))
	switch ev.doc.form {
	case xmlForm:
		for _, code := range ev.doc.xmlCodes {
			ev.addCode(code)
		}
		ev.addMessage(ev.doc.xmlMessage)
	case jsonForm:
		body := object(ev.doc.json)
		ev.addCode(text(body, "__type"))
		event := object(body["ProgressEvent"])
		if event == nil {
			event = body
		}
		if text(event, "OperationStatus") == "FAILED" {
			ev.addCode(text(event, "ErrorCode"))
			ev.addMessage(text(event, "StatusMessage"))
		}
		inner := object(body["Error"]) // query services asked for JSON
		ev.addCode(text(inner, "Code"))
		ev.addMessage(text(inner, "Message"))
		if ev.status >= 200 && ev.status < 300 {
			return // a bare "code" in a success is data
		}
		ev.addCode(text(body, "code"))
		ev.addCode(text(body, "Code"))
		ev.addMessage(text(body, "message"))
		ev.addMessage(text(body, "Message"))
		ev.addMessage(text(body, "errorMessage"))
	}
}
