package gcp

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// problem is an answer that is an error.
type problem struct {
	code    codes.Code
	message string
	details []proto.Message
	reason  string // what REST says besides, in the form of older APIs
	usual   int    // the HTTP status, where it is not the code's
}

// names of codes, as REST has them, and the HTTP status of each
// (google/rpc/code.proto).
var names = map[codes.Code]struct {
	name string
	http int
}{
	codes.Canceled: {"CANCELLED", 499}, codes.Unknown: {"UNKNOWN", 500}, codes.InvalidArgument: {"INVALID_ARGUMENT", 400},
	codes.DeadlineExceeded: {"DEADLINE_EXCEEDED", 504}, codes.NotFound: {"NOT_FOUND", 404}, codes.AlreadyExists: {"ALREADY_EXISTS", 409},
	codes.PermissionDenied: {"PERMISSION_DENIED", 403}, codes.ResourceExhausted: {"RESOURCE_EXHAUSTED", 429},
	codes.FailedPrecondition: {"FAILED_PRECONDITION", 400}, codes.Aborted: {"ABORTED", 409}, codes.OutOfRange: {"OUT_OF_RANGE", 400},
	codes.Unimplemented: {"UNIMPLEMENTED", 501}, codes.Internal: {"INTERNAL", 500}, codes.Unavailable: {"UNAVAILABLE", 503},
	codes.DataLoss: {"DATA_LOSS", 500}, codes.Unauthenticated: {"UNAUTHENTICATED", 401},
}

func (p problem) name() string { return names[p.code].name }
func (p problem) http() int    { return cmp.Or(p.usual, names[p.code].http) }

// status is the problem as a google.rpc.Status.
func (p problem) status() *spb.Status {
	s := &spb.Status{Code: int32(p.code), Message: p.message}
	for _, d := range p.details {
		packed, err := anypb.New(d)
		if err != nil {
			panic(err) // of values that this package makes
		}
		s.Details = append(s.Details, packed)
	}
	return s
}

// respond answers with a message in the request's protocol.
func (q *request) respond(answer any) sim.Answer {
	m, ok := answer.(proto.Message)
	switch {
	case q.grpc:
		return respondRPC(m)
	case ok || answer == nil:
		return respondREST(m)
	}
	return respondJSON(answer)
}

// empty is the answer of a listing of what is not modelled.
func (q *request) empty() sim.Answer { return q.respond(nil) }

// fail answers with an error in the request's protocol.
func (q *request) fail(p problem) sim.Answer {
	if q.grpc {
		return failRPC(p)
	}
	return failREST(p, q.service != assetService)
}

const accessNotConfigured = "accessNotConfigured"

var (
	badToken           = problem{code: codes.InvalidArgument, message: "Invalid page token. It belongs to no page of this request."}
	oldToken           = problem{code: codes.InvalidArgument, message: "Invalid page token. It has expired."}
	expiredCredentials = problem{
		code:    codes.Unauthenticated,
		message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
		details: []proto.Message{&errdetails.ErrorInfo{Reason: "ACCESS_TOKEN_EXPIRED", Domain: domain, Metadata: map[string]string{"service": "cloudasset.googleapis.com"}}},
		reason:  "authError",
	}
)

const domain = "googleapis.com"

func (q *request) host() string { return q.service + "." + domain }

// info is google.rpc.ErrorInfo about the one who pays, with more pairs.
func (q *request) info(reason string, pairs ...string) *errdetails.ErrorInfo {
	m := map[string]string{"service": q.host(), "consumer": q.consumer}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return &errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: m}
}

func help(pairs ...string) *errdetails.Help {
	h := &errdetails.Help{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Links = append(h.Links, &errdetails.Help_Link{Description: pairs[i], Url: pairs[i+1]})
	}
	return h
}

// denied is what a caller without the permission is told, and one who asks about
// what there is not: Google does not tell these apart (AIP-193, AIP-211).
func (q *request) denied() problem {
	permission := "cloudasset.assets." + strings.ToLower(q.operation[:1]) + q.operation[1:]
	switch {
	case q.operation == listAssets:
		permission = "cloudasset.assets.listResource"
		if m, ok := q.message.(*assetpb.ListAssetsRequest); ok && m.GetContentType() == assetpb.ContentType_IAM_POLICY {
			permission = "cloudasset.assets.listIamPolicy" // (asset-inventory/docs/listing-assets)
		}
	case q.service == managerService:
		permission = "resourcemanager.projects.get"
	case q.service == clusterService:
		permission = "container.clusters.list"
	}
	return problem{
		code: codes.PermissionDenied, message: "Request denied by Cloud IAM.", reason: "forbidden",
		details: []proto.Message{
			&errdetails.ErrorInfo{Reason: "IAM_PERMISSION_DENIED", Domain: q.host(), Metadata: map[string]string{
				"permission": permission, "resource": shown(q.parent),
			}},
			help("To check permissions required for this RPC:", "https://cloud.google.com/asset-inventory/docs/access-control#required_permissions"),
		},
	}
}

func (q *request) userProjectDenied(consumer string) problem {
	project := strings.TrimPrefix(consumer, "projects/")
	where := "https://console.developers.google.com/iam-admin/iam/project?project=" + project
	return problem{
		code: codes.PermissionDenied, reason: "forbidden",
		message: "Caller does not have required permission to use project " + project + ". Grant the caller the roles/serviceusage.serviceUsageConsumer role, or a custom role with the serviceusage.services.use permission, by visiting " + where + " and then retry. Propagation of the new permission may take a few minutes.",
		details: []proto.Message{
			help("Google developer console IAM admin", where),
			q.info("USER_PROJECT_DENIED", "consumer", consumer, "containerInfo", project),
		},
	}
}

// disabled is what is said where the API is off in the project that pays.
func (q *request) disabled() problem {
	project := strings.TrimPrefix(q.consumer, "projects/")
	title := map[string]string{assetService: "Cloud Asset API", managerService: "Cloud Resource Manager API", clusterService: "Kubernetes Engine API"}[q.service]
	where := "https://console.developers.google.com/apis/api/" + q.host() + "/overview?project=" + project
	text := title + " has not been used in project " + project + " before or it is disabled. Enable it by visiting " + where + " then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry."
	return problem{
		code: codes.PermissionDenied, message: text, reason: accessNotConfigured,
		details: []proto.Message{
			q.info("SERVICE_DISABLED", "serviceTitle", title, "containerInfo", project, "activationUrl", where),
			&errdetails.LocalizedMessage{Locale: "en-US", Message: text},
			help("Google developers console API activation", where),
		},
	}
}

// perimeter is what VPC Service Controls says.
func (q *request) perimeter() problem {
	const id = "simulated-0000000000000000"
	return problem{
		code: codes.PermissionDenied, reason: "forbidden", message: "Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: " + id,
		details: []proto.Message{
			&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{Type: "VPC_SERVICE_CONTROLS", Description: id}}},
			q.info("SECURITY_POLICY_VIOLATED", "uid", id),
		},
	}
}

// Refuse words a refusal as Google's APIs do.
func (f *Front) Refuse(c *sim.Call, why sim.Refusal) sim.Answer {
	q := native(c)
	p := q.refusal(why)
	p.message, p.usual = cmp.Or(why.Message, p.message), cmp.Or(why.Status, p.usual)
	return q.fail(p)
}

// refusal gives the usual answer for a reason.
func (q *request) refusal(why sim.Refusal) problem {
	if why.Code != "" {
		return q.coded(why)
	}
	switch why.Why {
	case sim.WhyThrottled:
		return q.throttled(why)
	case sim.WhyInternal:
		return problem{code: codes.Internal, message: "Internal error encountered.", reason: "backendError"}
	case sim.WhyUnavailable:
		return problem{code: codes.Unavailable, message: "The service is currently unavailable.", reason: "backendError"}
	case sim.WhyBadGateway:
		return problem{code: codes.Unavailable, message: "The upstream of the simulator does not answer.", usual: http.StatusBadGateway}
	case sim.WhyExpired:
		return expiredCredentials
	case sim.WhyDenied:
		return q.denied()
	case sim.WhyDeniedByPolicy:
		return q.perimeter()
	case sim.WhyRegionDisabled:
		return problem{
			code: codes.PermissionDenied, reason: "forbidden", message: "Location is prohibited by organization's policy.",
			details: []proto.Message{q.info("LOCATION_ORG_POLICY_VIOLATED")},
		}
	}
	return problem{code: codes.InvalidArgument, message: "The simulator was told to answer so."}
}

// coded words an error that is asked for by name: a gRPC code, or a reason.
func (q *request) coded(why sim.Refusal) problem {
	const told = "The simulator was told to answer so."
	switch why.Code {
	case "SERVICE_DISABLED", accessNotConfigured:
		return q.disabled()
	case "USER_PROJECT_DENIED":
		return q.userProjectDenied(q.consumer)
	case "RATE_LIMIT_EXCEEDED", "rateLimitExceeded":
		return q.throttled(sim.Refusal{Quota: &sim.Quota{Burst: 100, Window: minute}, RetryAfter: why.RetryAfter})
	case "DAILY", "dailyLimitExceeded":
		return q.throttled(sim.Refusal{Quota: &sim.Quota{Name: "listAssetsQpdPerOrganization", Burst: 650_000, Window: day, Layer: dayLayer}})
	case "IAM_PERMISSION_DENIED":
		return q.denied()
	case "SECURITY_POLICY_VIOLATED":
		return q.perimeter()
	case "EXPIRED_TOKEN":
		return oldToken
	}
	for code, n := range names {
		if n.name == why.Code {
			return problem{code: code, message: told}
		}
	}
	p := problem{code: codes.InvalidArgument, message: told, details: []proto.Message{q.info(shown(why.Code))}}
	for code, n := range names {
		// Of the codes that share a status, the one that is met most.
		if n.http == why.Status && code != codes.Aborted && code != codes.FailedPrecondition && code != codes.OutOfRange && code != codes.Unknown && code != codes.DataLoss {
			p.code = code
		}
	}
	return p
}

// throttled words a refusal for a quota that is used up. How long it takes until it
// is full again is told for quotas of a minute.
func (q *request) throttled(why sim.Refusal) problem {
	quota := why.Quota
	if quota == nil {
		quota = &sim.Quota{Burst: 1, Window: minute}
	}
	l, consumer := limitOf(q, quota), strings.Replace(q.consumer, "projects/", "project_number:", 1)
	text := "Quota exceeded for quota metric '" + l.title + "' and limit '" + l.title + " per " + per(quota) + "' of service '" + q.host() + "' for consumer '" + consumer + "'."
	p := problem{
		code: codes.ResourceExhausted, message: text, reason: "rateLimitExceeded",
		details: []proto.Message{
			q.info("RATE_LIMIT_EXCEEDED", l.pairs()...),
			&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: consumer, Description: text}}},
			help("Request a higher quota limit.", "https://cloud.google.com/docs/quotas/help/request_increase"),
		},
	}
	wait := max(why.RetryAfter, 0)
	if wait == 0 && !daily(quota) {
		wait = why.Wait
	}
	if wait > 0 {
		p.details = append(p.details, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait.Round(time.Microsecond))})
	}
	return p
}

// Wrong is a well-formed body of another shape: what a proxy might say. Over gRPC it
// is a message that is none.
func (f *Front) Wrong(c *sim.Call) sim.Answer {
	const text = `["all is well",{"code":7}]`
	a := respondREST(nil)
	if native(c).grpc {
		a = respondRPC(nil)
		a.Body = frame([]byte(text))
		return a
	}
	a.Body = []byte(text)
	return a
}
