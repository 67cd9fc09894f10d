package aws

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

var stsOperations = map[string]*operation{
	"GetCallerIdentity": {once: callerIdentity},
	"AssumeRole":        {item: "RoleArn", once: assumeRole},
}

// callerIdentity: keys of roles are told from others by how they begin.
func callerIdentity(x *context) (object, *problem) {
	return fields("Arn", x.arn("sts", "", "assumed-role/Simulated/sim"), "UserId", "AROASIMULATEDROLE0001:sim", "Account", x.place.Account), nil
}

func assumeRole(x *context) (object, *problem) {
	arn, session := x.param("RoleArn"), x.param("RoleSessionName")
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") || session == "" {
		return nil, &problem{http.StatusBadRequest, "ValidationError", fmt.Sprintf("%q is not the ARN of a role, or there is no session name", arn)}
	}
	if !x.estate.HasAccount(parts[4]) {
		return nil, &problem{http.StatusForbidden, "AccessDenied", "User: " + x.arn("sts", "", "assumed-role/Simulated/sim") + " is not authorized to perform: sts:AssumeRole on resource: " + arn}
	}
	name := parts[5][strings.LastIndexByte(parts[5], '/')+1:]
	return fields(
		"Credentials", fields(
			"AccessKeyId", sessionKey(parts[4]), "SecretAccessKey", "simulated", "SessionToken", "simulated",
			"Expiration", time.Now().Add(time.Hour),
		),
		"AssumedRoleUser", fields("AssumedRoleId", "AROASIMULATEDROLE0001:"+session, "Arn", fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", parts[4], name, session)),
	), nil
}

// iamPages: a hundred, or up to a thousand.
var iamPages = &pages{size: "MaxItems", token: "Marker", next: "Marker", usual: 100, least: 1, most: 1000, truncated: "IsTruncated"}

func iamListing(kind, set string, each func(*context, int) any) *operation {
	return &operation{kind: kind, set: set, of: "member", pages: iamPages, each: each}
}

var iamOperations = map[string]*operation{
	"ListRoles": iamListing(role, "Roles", func(x *context, i int) any {
		trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
		return append(x.principal(role, "Role", "AROA", i), fields("AssumeRolePolicyDocument", url.QueryEscape(trust), "MaxSessionDuration", 3600)...)
	}),
	"ListUsers":  iamListing(user, "Users", func(x *context, i int) any { return x.principal(user, "User", "AIDA", i) }),
	"ListGroups": iamListing(group, "Groups", func(x *context, i int) any { return x.principal(group, "Group", "AGPA", i) }),
	"ListPolicies": func() *operation {
		op := iamListing(policy, "Policies", func(x *context, i int) any {
			o := x.principal(policy, "Policy", "ANPA", i)
			return append(o, fields("DefaultVersionId", "v1", "AttachmentCount", int(x.draw(policy, i, "attached")%5), "PermissionsBoundaryUsageCount", 0, "IsAttachable", true, "UpdateDate", x.born(policy, i))...)
		})
		op.count = func(x *context) int {
			if x.param("Scope") == "AWS" {
				return 0 // AWS's own are not modelled
			}
			return x.estate.Count(x.global(), policy)
		}
		return op
	}(),
	"ListRoleTags": iamTags(role, "RoleName"),
	"ListUserTags": iamTags(user, "UserName"),
}

// principal is what IAM's things have in common.
func (x *context) principal(kind, word, prefix string, i int) object {
	name := x.id(kind, i)
	return fields(
		"Path", "/", word+"Name", name, word+"Id", fmt.Sprintf("%s%016X", prefix, x.draw(kind, i, "unique")),
		"Arn", x.arn("iam", "", strings.ToLower(word)+"/"+name), "CreateDate", x.born(kind, i),
	)
}

func iamTags(kind, param string) *operation {
	return &operation{item: param, once: func(x *context) (object, *problem) {
		i, ok := find(x.estate, x.global(), kind, x.param(param))
		if !ok {
			return nil, &problem{http.StatusNotFound, "NoSuchEntity", fmt.Sprintf("The %s with name %s cannot be found.", strings.ToLower(strings.TrimSuffix(param, "Name")), x.param(param))}
		}
		return fields("Tags", x.tagList("member", "Key", "Value", x.tagsOf(kind, i)), "IsTruncated", false), nil
	}}
}

// organizationsOperations: the estate's accounts are one organization.
var organizationsOperations = map[string]*operation{
	"ListAccounts": {
		set:   "Accounts",
		count: func(x *context) int { return len(x.estate.Accounts()) },
		pages: &pages{size: "MaxResults", token: "NextToken", next: "NextToken", usual: 20, least: 1, most: 20},
		each: func(x *context, i int) any {
			id := x.estate.Accounts()[i]
			return fields(
				"Id", id, "Arn", fmt.Sprintf("arn:aws:organizations::%s:account/o-simulated0/%s", x.estate.Accounts()[0], id),
				"Email", "account-"+id+"@example.com", "Name", fmt.Sprintf("account %d", i), "Status", "ACTIVE", "State", "ACTIVE",
				"JoinedMethod", "CREATED", "JoinedTimestamp", epoch,
			)
		},
	},
	"DescribeOrganization": {once: func(x *context) (object, *problem) {
		first := x.estate.Accounts()[0]
		return fields("Organization", fields(
			"Id", "o-simulated0", "Arn", "arn:aws:organizations::"+first+":organization/o-simulated0", "FeatureSet", "ALL",
			"MasterAccountArn", fmt.Sprintf("arn:aws:organizations::%s:account/o-simulated0/%[1]s", first), "MasterAccountId", first,
			"MasterAccountEmail", "account-"+first+"@example.com",
		)), nil
	}},
}
