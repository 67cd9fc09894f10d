package azure

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestLinks: which links to a next page are followed, and where to.
func TestLinks(t *testing.T) {
	const path = "/subscriptions/s/resources?a=%2F&$skiptoken=x%3d"
	for _, c := range []struct {
		endpoint, cloud, link string
		want                  string // none is refused
	}{
		{"", "", "https://management.azure.com" + path, "https://management.azure.com" + path},
		{"", "", "https://management.azure.com:443" + path, "https://management.azure.com:443" + path},
		{"", "", "HTTPS://Management.Azure.COM" + path, "HTTPS://Management.Azure.COM" + path},
		{"", "", "https://management.azure.com:444" + path, ""},
		{"", "", "http://management.azure.com" + path, ""},
		{"", "", "http://management.azure.com:443" + path, ""},
		{"", "", "https://management.azure.com.example.com" + path, ""},
		{"", "", "https://management.azure.com@example.com" + path, ""},
		{"", "", "https://user:pass@management.azure.com" + path, ""},
		{"", "china", "https://management.azure.com" + path, ""},
		{"", "", path, ""},
		{"", "", "%", ""},
		{"https://arm.example.com", "", "https://arm.example.com:443" + path, "https://arm.example.com:443" + path},
		{"https://arm.example.com", "", "https://management.azure.com" + path, "https://arm.example.com" + path},
		{"https://arm.example.com:8443/azure/", "", "https://management.azure.com" + path, "https://arm.example.com:8443/azure" + path},
		{"https://arm.example.com", "china", "https://management.chinacloudapi.cn:443" + path, "https://arm.example.com" + path},
		{"https://arm.example.com", "china", "https://management.azure.com" + path, ""},
		{"https://arm.example.com", "", "http://management.azure.com" + path, ""},
		{"https://arm.example.com", "", "https://example.com" + path, ""},
		{"http://127.0.0.1:80", "", "http://127.0.0.1" + path, "http://127.0.0.1" + path},
		{"HTTP://LOCALHOST:4599", "", "http://localhost:4599" + path, "http://localhost:4599" + path},
	} {
		a, err := connect(t.Context(), Options{Endpoint: c.endpoint, Cloud: c.cloud, Credential: token("t"), Governor: governor(t)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.leads(c.link)
		if got != c.want || (err == nil) != (c.want != "") || err != nil && (inventory.ReasonOf(Provider, err) != inventory.Protocol || strings.Contains(err.Error(), "pass@")) {
			t.Errorf("asked at %q in %q, %s leads to %q (%v), want %q", c.endpoint, c.cloud, c.link, got, err, c.want)
		}
	}
}

// TestLinksOfTheCloud: a proxy in front of the cloud that passes on its links is read
// to the end of each list, and nobody else is asked.
func TestLinksOfTheCloud(t *testing.T) {
	x := serve(t, small(), simazure.WithLinks("https://management.azure.com"))
	records, found := run(t, x.open(t))
	same(t, found, estate(x.Estate(), everything))
	for _, r := range records {
		if r.Status != inventory.Success {
			t.Errorf("%+v", r)
		}
	}
	if r := record(t, records, first, disks); r.Pages < 2 {
		t.Errorf("no link was followed: %+v", r)
	}
}

// TestRedirects: a list that leads elsewhere is an error, and the token stays here.
func TestRedirects(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"value":[]}`)
	}))
	defer elsewhere.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/subscriptions" {
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"value":[{"id":"/subscriptions/%s"}]}`, first)
		}))
		a := (&tenant{url: server.URL}).open(t)
		records, _ := runWhere(t, a, func(k inventory.Kind) bool { return k.Name == disks || k.Family == graphFamily })
		for _, r := range records {
			if r.Status != inventory.Failed || r.Reason != inventory.Protocol || r.Error == "" {
				t.Errorf("%d: %+v", status, r)
			}
		}
		server.Close()
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirections were followed", n)
	}
	// A login is the SDK's, which follows them.
	a, err := connect(t.Context(), Options{Credential: token("t"), Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer server.Close()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody))(t)
	response, err := loginOptions(Options{}, a).Transport.Do(request)
	if err != nil || response.StatusCode != http.StatusOK || followed.Load() != 1 {
		t.Fatalf("%v %v", response, err)
	}
	response.Body.Close()
}

// revoked is a credential whose first token was revoked: with claims it gives another.
type revoked struct{ asked *atomic.Int32 }

func (c revoked) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	c.asked.Add(1)
	text := "old"
	if o.Claims != "" {
		text = "new"
	}
	return azcore.AccessToken{Token: text, ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// TestRevokedToken: a token that is revoked in the middle of a run is refused once, and
// not once for each of the clients that are made afterwards.
func TestRevokedToken(t *testing.T) {
	const servers = 50
	var refused, asked atomic.Int32
	challenge := `Bearer realm="", error="insufficient_claims", claims="` + base64.StdEncoding.EncodeToString([]byte(`{"access_token":{"nbf":{"essential":true,"value":"1"}}}`)) + `"`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/subscriptions":
			fmt.Fprintf(w, `{"value":[{"id":"/subscriptions/%s"}]}`, first)
		case r.Header.Get("Authorization") == "Bearer old":
			refused.Add(1)
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"InvalidAuthenticationToken","message":"revoked"}}`)
		case strings.HasSuffix(r.URL.Path, "/servers"):
			var list []string
			for i := range servers {
				list = append(list, fmt.Sprintf(`{"id":"/subscriptions/%s/resourceGroups/g/providers/Microsoft.Sql/servers/s%d"}`, first, i))
			}
			fmt.Fprintf(w, `{"value":[%s]}`, strings.Join(list, ","))
		default:
			fmt.Fprint(w, `{"value":[]}`)
		}
	}))
	defer server.Close()
	a := (&tenant{url: server.URL}).open(t, func(o *Options) { o.Credential = revoked{&asked} })
	records, _ := run(t, a, "azure_sql_databases")
	if r := records[0]; r.Status != inventory.Success || refused.Load() != 1 || asked.Load() != 2 {
		t.Errorf("refused %d times, asked for a token %d times: %+v", refused.Load(), asked.Load(), r)
	}
}
