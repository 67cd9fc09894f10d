package verdict

// databricks: the REST API's error codes (docs.databricks.com, "Error codes" and
// databricks-sdk-go apierr), and what SQL warehouses answer over Thrift.
var databricks = provider{
	codes: map[string]rule{
		"REQUEST_LIMIT_EXCEEDED":  {kind: Throttled},
		"RESOURCE_EXHAUSTED":      {kind: Throttled},
		"TEMPORARILY_UNAVAILABLE": {kind: Transient},
		// Thrift's own failures travel in an HTTP 200 and are the application's.
		"ERROR_STATUS":          {kind: Fatal, why: "the application's answer"},
		"INVALID_HANDLE_STATUS": {kind: Fatal, why: "the application's answer"},
	},
	names: []string{"INVALID_PARAMETER_VALUE", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "ENDPOINT_NOT_FOUND",
		"RESOURCE_DOES_NOT_EXIST", "ALREADY_EXISTS", "RESOURCE_ALREADY_EXISTS", "RESOURCE_CONFLICT", "NOT_IMPLEMENTED"},
	messages: []messageRule{
		{"", "has not been initialized", Transient, "a warehouse that is starting"},
	},
	statuses: map[int]func(*evidence) (Kind, string){
		503: func(ev *evidence) (Kind, string) {
			if ev.hinted {
				return Throttled, "with a hint"
			}
			return Transient, "without a hint, as while a warehouse starts"
		},
	},
	read: readDatabricks,
}

// readDatabricks knows {"error_code","message"}, the Statement Execution API's
// failed statement, and the headers that carry the message of a Thrift gateway.
func readDatabricks(ev *evidence) {
	if ev.doc.form == jsonForm {
		body := object(ev.doc.json)
		ev.addCode(text(body, "error_code"))
		failed := object(object(body["status"])["error"])
		ev.addCode(text(failed, "error_code"))
		ev.addMessage(text(failed, "message"))
		if ev.status < 200 || ev.status > 299 {
			ev.addMessage(text(body, "message"))
			ev.addMessage(text(body, "error"))
		}
	}
	ev.addMessage(value(ev.header, "x-thriftserver-error-message"))
	ev.addMessage(value(ev.header, "x-databricks-error-or-redirect-message"))
	ev.addMessage(value(ev.header, "x-databricks-reason-phrase"))
}
