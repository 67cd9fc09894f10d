package verdict

import "time"

// azure: Azure Resource Manager's and Resource Graph's throttling documentation
// (learn.microsoft.com: "Understand how Azure Resource Manager throttles requests",
// "Troubleshoot API throttling errors", "Guidance for throttled requests in Azure
// Resource Graph") and the conflicts that pass. Any other 409 is fatal.
var azure = provider{
	codes: map[string]rule{
		"RateLimiting":                        {kind: Throttled},
		"TooManyRequests":                     {kind: Throttled},
		"SubscriptionRequestsThrottled":       {kind: Throttled},
		"TenantRequestsThrottled":             {kind: Throttled},
		"ResourceRequestsThrottled":           {kind: Throttled},
		"ResourceCollectionRequestsThrottled": {kind: Throttled},
		"OperationNotAllowed":                 {kind: Throttled, when: azureNested},

		"RetryableErrorDueToAnotherOperation": {kind: Transient, why: "a lock held by another operation"},
		"AnotherOperationInProgress":          {kind: Transient, why: "a lock held by another operation"},
		"ConflictingConcurrentWriteNotAllowed": {
			kind: Transient, why: "a conflict that passes"},
	},
	read: readAzure,
}

// azureError is what Azure's envelope says besides code and message.
type azureError struct {
	nested []string    // codes in details, at any depth
	ends   []time.Time // when a throttling window ends, as Compute says in details
}

// azureNested: OperationNotAllowed is Compute's code for throttling and for quotas;
// a detail TooManyRequests tells them apart.
func azureNested(ev *evidence) (Kind, string, bool) {
	for _, code := range ev.azure.nested {
		if fold(code) == "toomanyrequests" {
			return Throttled, "with the detail TooManyRequests", true
		}
	}
	return 0, "", false
}

// readAzure knows ARM's and OData's envelopes, their top level without the
// "error" that some resource providers leave out, Entra's {"error":"invalid_client"},
// storage's XML, and the header that has the code where there is no body.
func readAzure(ev *evidence) {
	ev.addCode(value(ev.header, "x-ms-error-code"))
	switch ev.doc.form {
	case xmlForm:
		for _, code := range ev.doc.xmlCodes {
			ev.addCode(code)
		}
		ev.addMessage(ev.doc.xmlMessage)
	case jsonForm:
		body := object(ev.doc.json)
		if code := text(body, "error"); code != "" {
			ev.addCode(code)
			ev.addMessage(text(body, "error_description"))
		}
		outer := []map[string]any{object(body["error"]), object(body["odata.error"])}
		if ev.status < 200 || ev.status > 299 {
			outer = append(outer, body)
		}
		for _, e := range outer {
			if e == nil {
				continue
			}
			ev.addCode(text(e, "code"))
			ev.addMessage(text(e, "message"))
			ev.addMessage(text(object(e["message"]), "value"))
			ev.azure.details(e, 0)
		}
	}
}

// details goes down through nested details; depth is bounded, bodies are outside
// data.
func (a *azureError) details(e map[string]any, depth int) {
	if depth > 4 {
		return
	}
	for _, d := range list(e["details"]) {
		detail := object(d)
		if detail == nil || len(a.nested) >= 64 {
			continue
		}
		if code := cleanCode(text(detail, "code")); code != "" {
			a.nested = append(a.nested, code)
			if fold(code) == "toomanyrequests" {
				a.window(text(detail, "message"))
			}
		}
		a.details(detail, depth+1)
	}
}

// window reads the end of Compute's throttling window. The detail's message is JSON
// in a string: {"operationGroup":"HighCostGet30Min","startTime":…,"endTime":…}.
func (a *azureError) window(message string) {
	doc := parseDocument(nil, []byte(message))
	if end, err := time.Parse(time.RFC3339Nano, text(object(doc.json), "endTime")); err == nil {
		a.ends = append(a.ends, end)
	}
}
