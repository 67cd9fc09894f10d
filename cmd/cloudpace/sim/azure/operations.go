package azure

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// operationStatuses is the word for changes under way in paths.
const operationStatuses = "operations"

// pollHint is how long a client is told to wait before it asks the first time.
// Later answers tell it nothing: it is to remember.
const pollHint = 1

// change accepts what changes something that there is, and changes nothing: the
// answer says where to ask how far it is. What reads by POST is not modelled.
func (x *context) change(a *sim.Answer) *problem {
	if x.verb == "register" {
		return x.tenant(x, a)
	}
	if x.subscription == "" || x.namespace == "" && x.group == "" {
		return &problem{status: http.StatusMethodNotAllowed, code: "HttpMethodNotSupported", message: "The http method '" + name(x.method) + "' is not supported for a resource collection."}
	}
	if no := x.groupMissing(); no != nil {
		return no
	}
	if strings.HasPrefix(strings.ToLower(x.verb), "list") {
		return x.missing()
	}
	t, known := x.target()
	if x.kind != nil && !known {
		return x.missing()
	}
	namespace := name(x.namespace)
	if namespace == "" {
		namespace = "Microsoft.Resources"
	}
	// The operation's name is the time when it is done, so that nobody has to
	// remember it.
	done := time.Now().Add(OperationTime).UnixMilli()
	at := x.base + "/subscriptions/" + x.subscription + "/providers/" + namespace + "/locations/" + x.estate.Regions()[0] + "/" + operationStatuses + "/" +
		strconv.FormatInt(done, 36) + "?api-version=" + x.query.Get("api-version")
	// What is put is given back at once, as it will be, and at its own address in the
	// end. Of all else there is a result.
	if x.method == http.MethodPut && known && x.part == nil && x.kind != nil {
		x.render(a, x.write(t))
		a.Status = http.StatusCreated
	} else {
		x.render(a, object{})
		a.Status = http.StatusAccepted
		a.Header.Set("Location", at+"&result=true")
	}
	a.Header.Set("Azure-Asyncoperation", at)
	a.Header.Set("Retry-After", strconv.Itoa(pollHint))
	return nil
}

// target finds the thing that is to change.
func (x *context) target() (thing, bool) {
	if x.kind == nil || x.part != nil || len(x.names) == 0 {
		return thing{}, x.part != nil // parts are not looked for
	}
	t, ok := x.kind.find(x.estate, x.subscription, x.names[0])
	return t, ok && (x.group == "" || t.group(x.estate) == x.group)
}

// poll tells how far a change is: at its status with 200 and a word, at its result
// with 202 until it is done.
func (x *context) poll(a *sim.Answer) *problem {
	done, err := strconv.ParseInt(x.names[1], 36, 64)
	if err != nil {
		return &problem{status: http.StatusNotFound, code: "OperationNotFound", message: "There is no operation '" + name(x.names[1]) + "'."}
	}
	status := succeeded
	if time.Now().Before(time.UnixMilli(done)) {
		status = "InProgress"
	}
	x.render(a, object{"id": name(x.raw), "name": name(x.names[1]), "status": status})
	if x.query.Get("result") != "" {
		x.render(a, object{})
		if status != succeeded {
			a.Status = http.StatusAccepted
			a.Header.Set("Location", x.base+x.raw+"?api-version="+x.query.Get("api-version")+"&result=true")
		}
	}
	return nil
}
