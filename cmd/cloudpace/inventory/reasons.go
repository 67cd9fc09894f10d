package inventory

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// reasonByCode has the providers' codes that tell a reason on their own.
// Throttling is not here: what counts as that is verdict's to say.
var reasonByCode = map[string]Reason{
	"AccessDenied":                AccessDenied,
	"AccessDeniedException":       AccessDenied,
	"AuthorizationError":          AccessDenied,
	"AuthorizationErrorException": AccessDenied,
	"NotAuthorized":               AccessDenied,
	"UnauthorizedAccess":          AccessDenied,
	"UnauthorizedOperation":       AccessDenied,
	"AllAccessDisabled":           AccessDenied,
	// Azure says the same of a subscription that nobody has and of somebody else's.
	"AuthorizationFailed":       AccessDenied,
	"LinkedAuthorizationFailed": AccessDenied,
	"SubscriptionNotFound":      AccessDenied,
	// So does Google of parents: NOT_FOUND is only said to who may see that.
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": AccessDenied,
	"IAM_PERMISSION_DENIED":           AccessDenied,
	"NOT_FOUND":                       AccessDenied,
	"PERMISSION_DENIED":               AccessDenied,
	"forbidden":                       AccessDenied,
	"insufficientPermissions":         AccessDenied,

	// Not accepted is shown as expired: to read on takes new credentials either way.
	"AuthFailure":                 CredentialsExpired,
	"ExpiredAuthenticationToken":  CredentialsExpired,
	"ExpiredToken":                CredentialsExpired,
	"ExpiredTokenException":       CredentialsExpired,
	"IncompleteSignature":         CredentialsExpired,
	"InvalidAccessKeyId":          CredentialsExpired,
	"InvalidClientTokenId":        CredentialsExpired,
	"InvalidGrantException":       CredentialsExpired,
	"InvalidSignatureException":   CredentialsExpired,
	"InvalidToken":                CredentialsExpired,
	"MissingAuthenticationToken":  CredentialsExpired,
	"RequestExpired":              CredentialsExpired,
	"RequestInTheFuture":          CredentialsExpired,
	"RequestTimeTooSkewed":        CredentialsExpired,
	"SignatureDoesNotMatch":       CredentialsExpired,
	"TokenRefreshRequired":        CredentialsExpired,
	"UNAUTHENTICATED":             CredentialsExpired,
	"UnrecognizedClientException": CredentialsExpired,

	"DisabledSubscription":            APIDisabled,
	"MissingRegistrationForLocation":  APIDisabled,
	"MissingSubscriptionRegistration": APIDisabled,
	"ReadOnlyDisabledSubscription":    APIDisabled,
	"SubscriptionDisabled":            APIDisabled,

	"OptInRequired":                 APIDisabled,
	"SERVICE_DISABLED":              APIDisabled,
	"SubscriptionRequiredException": APIDisabled,
	"accessNotConfigured":           APIDisabled,

	// Kinds of these that are about a rate are Throttled, which goes before.
	"LimitExceeded":                 QuotaExhausted,
	"LimitExceededException":        QuotaExhausted,
	"RESOURCE_EXHAUSTED":            QuotaExhausted,
	"ServiceQuotaExceededException": QuotaExhausted,
	"dailyLimitExceeded":            QuotaExhausted,
	"RATE_LIMIT_EXCEEDED":           QuotaExhausted,
	"quotaExceeded":                 QuotaExhausted,
	"rateLimitExceeded":             QuotaExhausted,

	"RequestDisallowedByAzure":  DeniedByPolicy,
	"RequestDisallowedByPolicy": DeniedByPolicy,

	// A list of Azure's whose next page cannot be asked for any more.
	"CouldNotDecodeSkipToken": Truncated,
	"InvalidSkipToken":        Truncated,

	"InvalidResourceNamespace":            ServiceNotInRegion,
	"InvalidResourceType":                 ServiceNotInRegion,
	"LocationNotAvailableForResourceType": ServiceNotInRegion,

	// The type may exist in versions of the API that are not spoken here.
	"InvalidApiVersionParameter": NotSupported,
	"NoRegisteredProviderFound":  NotSupported,
	"UnsupportedApiVersion":      NotSupported,

	// Google takes the question itself for wrong: the parent, or what is asked of it.
	"INVALID_ARGUMENT": NotSupported,
	"UNIMPLEMENTED":    NotSupported,

	"InvalidAction":                 NotSupported,
	"NotImplemented":                NotSupported,
	"NotImplementedException":       NotSupported,
	"UnknownOperation":              NotSupported,
	"UnknownOperationException":     NotSupported,
	"UnsupportedOperation":          NotSupported,
	"UnsupportedOperationException": NotSupported,
}

// goneCodes answer a question about an asset that no longer exists. Only answers
// about one asset are looked up here: on a listing the same code is an error.
var goneCodes = map[string]bool{
	"AWS.SimpleQueueService.NonExistentQueue": true,
	"CacheClusterNotFound":                    true,
	"ClusterNotFoundException":                true,
	"DBSubnetGroupNotFoundFault":              true,
	"FileSystemNotFound":                      true,
	"InvalidAMIID.NotFound":                   true,
	"InvalidResourceId":                       true,
	"ListenerNotFound":                        true,
	"LoadBalancerNotFound":                    true,
	"NoSuchBucket":                            true,
	"NoSuchDistribution":                      true,
	"NoSuchEntity":                            true,
	"NoSuchHostedZone":                        true,
	"NoSuchResource":                          true,
	"NotFoundException":                       true,
	"ParentResourceNotFound":                  true,
	"QueueDoesNotExist":                       true,
	"ReplicationGroupNotFoundFault":           true,
	"RepositoryNotFoundException":             true,
	"ResourceGroupBeingDeleted":               true,
	"ResourceGroupNotFound":                   true,
	"ResourceNotFound":                        true,
	"ResourceNotFoundException":               true,
	"ServiceNotFoundException":                true,
	"StateMachineDoesNotExist":                true,
	"TargetGroupNotFound":                     true,
	"TrailNotFoundException":                  true,
}

// ReasonOf tells what err means for a record. It has an answer for every error;
// what nothing else explains is [Protocol].
func ReasonOf(provider string, err error) Reason {
	var own interface{ reason() Reason }
	if errors.As(err, &own) {
		return own.reason()
	}
	// A refused call is there for what opened the circuit: a host that does not
	// answer is unreachable, also for the calls that were spared it.
	if cause := causeOf(err); cause != nil {
		return ReasonOf(provider, cause)
	}
	r := verdict.Examine(provider, err)
	switch r.Kind {
	case verdict.Canceled:
		return Truncated
	case verdict.Throttled:
		return Throttled
	}
	why, ok := reasonByCode[strings.TrimPrefix(r.Code, "Client.")]
	if !ok {
		why, ok = reasonByStatus(r)
	}
	switch {
	case why == AccessDenied && byPolicy(err):
		return DeniedByPolicy
	case why == ServiceNotInRegion && strings.Contains(strings.ToLower(err.Error()), "supported api-versions"):
		return NotSupported // there is such a type, in another version of the API
	case ok:
		return why
	case r.Status == 0 && noSuchHost(err):
		if slices.Contains(hostPerRegion, provider) {
			return ServiceNotInRegion
		}
		return Unreachable
	case r.Status/100 == 2 && errors.Is(err, io.EOF):
		return Protocol // the answer was whole, and what was looked for is not in it
	}
	switch {
	case r.Kind == verdict.Transient || r.Network && r.Status == 0:
		return Unreachable
	case r.Status == 0 && !r.Answered && strings.Contains(err.Error(), "get credentials"):
		return CredentialsExpired // a refresh in the middle of the run failed, and not for the network
	}
	return Protocol // with a status, too: a page of a proxy that nobody could decode
}

// causeOf gives what made cloudpace itself end a call, nil for other errors.
func causeOf(err error) error {
	var open *cloudpace.CircuitOpenError
	if errors.As(err, &open) {
		return open.Err
	}
	var spent *cloudpace.RetryBudgetExhaustedError
	if errors.As(err, &spent) {
		return spent.Err
	}
	return nil
}

// reasonByStatus reads answers whose code, if any, tells nothing.
func reasonByStatus(r verdict.Result) (Reason, bool) {
	switch r.Status {
	case http.StatusUnauthorized:
		return CredentialsExpired, true
	case http.StatusForbidden:
		return AccessDenied, true
	case http.StatusNotImplemented:
		return NotSupported, true
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError:
		// Providers name a code with these. Without one it is the page of a server
		// that does not know the API: an emulator, a gateway.
		if r.Code == "" || r.Code == "UnknownError" {
			return NotSupported, true
		}
	}
	return "", false
}

// policies are the words for an organization's policies in a denial, which has the
// same code whoever denies: AWS's service and resource control policies, Google's
// organization policies and service perimeters.
var policies = []string{"service control policy", "resource control policy", "organization's policy", "organization policy"}

func byPolicy(err error) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc(policies, func(words string) bool { return strings.Contains(text, words) })
}

// hostPerRegion are the providers that give the services of a region their names
// there, so that a name that does not exist is a service that the region does not
// have. The others have a few hosts for all: one that is lost is the network's doing.
var hostPerRegion = []string{"aws"}

// noSuchHost tells whether a name does not exist, as opposed to a resolver that
// does not answer.
func noSuchHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound && !dns.IsTimeout
}

// ErrGone is for details of which a provider answers those of several assets at
// once: what the answer leaves out does not exist any more.
var ErrGone = errors.New("not in the answer")

// Gone tells whether err says that the asset asked about does not exist any
// more.
func Gone(provider string, err error) bool {
	return errors.Is(err, ErrGone) || goneCodes[verdict.Examine(provider, err).Code]
}
