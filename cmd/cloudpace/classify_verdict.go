package main

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/databricks"
	"github.com/cloudpace/cloudpace/verdict"
)

// classify says what cloudpace makes of a record.
func (rec *record) classify() (*answer, error) {
	failed, err := rec.failure()
	if err != nil {
		return nil, err
	}
	scope := rec.scope()
	result := verdict.Examine(rec.Provider, failed)
	a := &answer{ID: rec.ID, Scope: scope.String(), Kind: result.Kind.String(), Reason: result.Reason}
	if result.HasHint {
		seconds := result.Hint.Seconds()
		a.RetryAfter = &seconds
	}
	repeats, why := rec.repeats(result)
	a.Retry = repeats
	if why != "" {
		a.Reason += "; " + why
	}
	a.Reason = oneLine(a.Reason)
	a.Pause = strings.Join(rec.pauses(scope, result), ", ")
	return a, nil
}

// repeats tells whether cloudpace would send the request again, retries and time
// provided, and where that is not plain from the kind, why not.
func (rec *record) repeats(r verdict.Result) (bool, string) {
	switch {
	case r.Kind != verdict.Throttled && r.Kind != verdict.Transient:
		return false, ""
	case r.NoRepeat:
		return false, "the server asks not to repeat it"
	case rec.Provider == "databricks":
		return rec.databricksRepeats(r)
	case r.Unprocessed || rec.readsOnly():
		return true, ""
	}
	return false, "not repeated: " + rec.method() + " may have been carried out"
}

// readsOnly tells whether the request may be sent twice. The AWS SDK repeats every
// operation; what is not safe to repeat carries a token of the client's. gRPC is
// judged by the name of the RPC.
func (rec *record) readsOnly() bool {
	switch rec.method() {
	case "GET", "HEAD", "OPTIONS", "PUT", "DELETE":
		return true
	}
	path := strings.ToLower(strings.TrimSuffix(rec.url.Path, "/"))
	switch rec.Provider {
	case "aws":
		return true
	case "azure":
		// Reads by POST (S11.7).
		last := path[strings.LastIndexByte(path, '/')+1:]
		return strings.HasSuffix(path, "/providers/microsoft.resourcegraph/resources") || strings.HasPrefix(last, "list") || last == "query"
	case "gcp":
		rpc := rec.scope().Operation
		if rec.GRPC == nil {
			return false
		}
		for _, read := range []string{"List", "Get", "BatchGet", "Search", "Query", "Analyze"} {
			if strings.HasPrefix(rpc, read) {
				return true
			}
		}
		return rpc == ""
	}
	return false
}

// databricksRepeats is S14.2.
func (rec *record) databricksRepeats(r verdict.Result) (bool, string) {
	command := rec.databricksCommand()
	yes := command.Repeats(databricks.Outcome{
		Status: rec.Status, Told: len(http.Header(rec.Headers).Values("Retry-After")) > 0,
		Passes: r.Kind == verdict.Throttled || r.Kind == verdict.Transient && verdict.ClassifyFor(rec.Provider, &verdict.ResponseError{StatusCode: rec.Status}) == verdict.Fatal,
		Broken: r.Network, Unsent: r.Network && r.Unprocessed,
	})
	switch {
	case yes:
		return true, ""
	case command.Repeatable:
		return false, "not repeated: this answer is final"
	case rec.Command != "":
		return false, "not repeated: " + rec.Command + " may have been carried out"
	}
	return false, "not repeated: " + rec.method() + " may have been carried out"
}

// pauses names what is held for others than this call, and how long.
func (rec *record) pauses(scope cloudpace.Scope, r verdict.Result) []string {
	settings := cloudpace.DefaultConfig().Provider(rec.Provider)
	var list []string
	add := func(level string, s cloudpace.Scope, d time.Duration) {
		if d = min(d, settings.MaxPause); d > 0 {
			list = append(list, fmt.Sprintf("%s %s for %ss", level, s, strconv.FormatFloat(math.Ceil(d.Seconds()*1000)/1000, 'f', -1, 64)))
		}
	}
	if r.Kind == verdict.Throttled && r.HasHint {
		add("leaf", leaf(settings, scope), r.Hint)
	}
	if rec.Provider != "azure" || rec.Status == 0 {
		return list
	}
	// What Azure's answers say of the quota that is left (S11.5).
	if r.Kind == verdict.OK && r.HasHint && scope.Service == "resourcegraph" && rec.header("x-ms-user-quota-remaining") == "0" {
		add("leaf", scope, r.Hint)
	}
	if left, err := strconv.Atoi(rec.header("x-ms-ratelimit-remaining-subscription-reads")); err == nil && left < 25 && scope.Account != "" {
		account := cloudpace.Scope{Provider: scope.Provider, Account: scope.Account}
		add("account", account, time.Second)
	}
	return list
}

// header gives the first line of a header, trimmed.
func (rec *record) header(name string) string {
	return strings.TrimSpace(http.Header(rec.Headers).Get(name))
}

// leaf is the scope of the bucket that a call of this scope takes its tokens
// from (S3.2).
func leaf(p cloudpace.Provider, s cloudpace.Scope) cloudpace.Scope {
	if s.Operation != "" {
		if _, ok := p.Services[s.Service+"."+s.Operation]; ok || p.Services[s.Service].PerOperation {
			return s
		}
	}
	s.Operation = ""
	return s
}
