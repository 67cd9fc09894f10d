package verdict

import (
	"encoding/json"
	"fmt"
	"testing"
)

func exhausted(message string, details ...map[string]any) *ResponseError {
	body, err := json.Marshal(map[string]any{"code": 8, "details": details})
	if err != nil {
		panic(err)
	}
	return &ResponseError{Provider: "gcp", Code: "RESOURCE_EXHAUSTED", Message: message, Body: body}
}

func errorInfo(pairs ...string) map[string]any {
	meta := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		meta[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "metadata": meta}
}

func violation(pairs ...string) map[string]any {
	v := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{v}}
}

// A quota is per day where its unit, its name or plain words say so. What resources are
// called says nothing, and a detail is believed before words.
func TestWhatAQuotaIsCountedPer(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{exhausted("Quota exceeded for projects/example-1/databases/(default): read requests per minute"), false},
		{exhausted("rate limit for projects/prod1/datasets/x"), false},
		{exhausted("projects/example/d/x is too fast"), false},
		{exhausted("projects/daily-etl: too many requests"), false},
		{exhausted("projects/daily-quota: too many requests"), false},
		{exhausted("requests of the daily job are too many"), false},
		{exhausted("Quota exceeded for quota metric 'Daily job requests' and limit 'Daily job requests per minute'"), false},
		{exhausted("Quota exceeded for quota metric 'Queries' and limit 'Queries per day per user'"), true},
		{exhausted("Daily Limit Exceeded. The quota will be reset at midnight Pacific Time"), true},
		{exhausted("You have used up your daily request quota."), true},
		{exhausted("100 requests per day, no more"), true},
		{exhausted("Read requests per 100 seconds"), false},

		{exhausted("no", errorInfo("quota_unit", "1/d/{project}")), true},
		{exhausted("no", errorInfo("quota_unit", "1/min/{project}")), false},
		{exhausted("daily quota", errorInfo("quota_unit", "1/min/{project}")), false},
		{exhausted("daily quota", errorInfo("quota_limit", "ReadsPerMinutePerProject")), false},
		{exhausted("no", errorInfo("quota_limit", "ListAssetsPerDayPerProject")), true},
		{exhausted("no", errorInfo("quota_limit", "ListAssetsPerDayPerProject", "quota_unit", "1/min/{project}")), false},
		{exhausted("no", errorInfo("quota_metric", "example.googleapis.com/requests_per_day")), true},
		{exhausted("no", errorInfo("quota_metric", "example.googleapis.com/daily_digest_reads")), false},
		{exhausted("no", errorInfo("consumer", "projects/daily-quota")), false},

		{exhausted("no", violation("subject", "project:daily quota", "description", "ListAssets per minute")), false},
		{exhausted("no", violation("subject", "project:per-day 1/d")), false},
		{exhausted("no", violation("description", "ListAssets per day")), true},
		{exhausted("no", violation("quotaId", "ListAssetsPerDay")), true},
		{exhausted("no", violation("quotaId", "ListAssetsPerMinute", "description", "your daily quota")), false},
		{exhausted("no", violation("description", "ListAssets per day"), errorInfo("quota_unit", "1/min/{project}")), false},
		{exhausted("no", violation("quotaId", "ListAssetsPerMinute"), violation("quotaId", "ListAssetsPerDay")), true},
	} {
		r := Examine("gcp", c.err)
		want := Throttled
		if c.want {
			want = Fatal
		}
		if r.Daily != c.want || r.Kind != want {
			t.Errorf("%v: %v, daily %v (%s)", c.err, r.Kind, r.Daily, r.Reason)
		}
	}
}

// Who is refused because of a quota per day can tell, as the one who met it.
func TestDailyIsToldOfWhatCloudpaceRefused(t *testing.T) {
	daily := exhausted("no", errorInfo("quota_unit", "1/d/{project}"))
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&ownError{kind: Throttled, err: daily}, true},
		{fmt.Errorf("listing: %w", &ownError{kind: Throttled, err: fmt.Errorf("page 3: %w", daily)}), true},
		{&ownError{kind: Throttled, err: exhausted("no")}, false},
		{&ownError{kind: Throttled}, false},
	} {
		if r := Examine("gcp", c.err); r.Daily != c.want || !r.Own || r.Kind != Throttled {
			t.Errorf("%v: %+v", c.err, r)
		}
	}
}
