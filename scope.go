package cloudpace

import (
	"fmt"
	"strings"
)

// Scope names what a call belongs to. Limits, circuit breakers, slots and
// numbers are kept per scope, each at its own depth: a bulkhead per Provider and
// Account, numbers per Service, a bucket per Service or per Operation.
//
// An empty field and "*" mean the same: not known, or not applicable. Scopes are
// plain comparable values and safe to copy and share.
type Scope struct {
	Provider  string // "aws", "azure", "gcp", "databricks", or a name of your own
	Account   string // account id, subscription id, "projects/ID", workspace host
	Region    string // "us-east-1", "aws-global"; empty where a provider has none
	Service   string // "ec2", "network", "cloudasset", "sql"
	Operation string // "DescribeSubnets"; not part of what numbers are kept for
}

// String gives the scope as provider/account/region/service, with "*" for what
// is missing and "/Operation" added when there is one:
//
//	aws/111122223333/us-east-1/ec2/DescribeSubnets
//
// A "/" or "%" inside a part is written as %2F or %25, except the slash of the
// account forms projects/ID, organizations/ID and folders/ID; their ID is never
// missing, so a "*" in its place is a "*". The operation is
// all that follows the service and is written as it is. [ParseScope] reads the
// text back.
func (s Scope) String() string {
	var b strings.Builder
	b.Grow(len(s.Provider) + len(s.Account) + len(s.Region) + len(s.Service) + len(s.Operation) + 8)
	b.WriteString(escapePart(s.Provider))
	b.WriteByte('/')
	b.WriteString(escapeAccount(s.Account))
	b.WriteByte('/')
	b.WriteString(escapePart(s.Region))
	b.WriteByte('/')
	b.WriteString(escapePart(s.Service))
	if op := plain(s.Operation); op != "" {
		b.WriteByte('/')
		b.WriteString(op)
	}
	return b.String()
}

// ParseScope reads the text that [Scope.String] writes. "*" is read as the empty
// string. It returns an error when there are fewer than four parts or an escape
// is malformed.
func ParseScope(text string) (Scope, error) {
	provider, rest, ok := strings.Cut(text, "/")
	if !ok {
		return Scope{}, badScope(text, "")
	}
	var account string
	for _, root := range accountRoots {
		if id, found := strings.CutPrefix(rest, root); found {
			account, rest, ok = strings.Cut(id, "/")
			if !ok {
				return Scope{}, badScope(text, "")
			}
			// Here "*" is an id like any other: what is missing has no root either.
			id, err := unescapeText(account)
			if err != nil {
				return Scope{}, badScope(text, err.Error())
			}
			account = root + id
			break
		}
	}
	if account == "" {
		account, rest, ok = strings.Cut(rest, "/")
		if !ok {
			return Scope{}, badScope(text, "")
		}
		id, err := unescapePart(account)
		if err != nil {
			return Scope{}, badScope(text, err.Error())
		}
		account = id
	}
	region, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return Scope{}, badScope(text, "")
	}
	service, operation, _ := strings.Cut(rest, "/")
	s := Scope{Account: account, Operation: plain(operation)}
	for _, part := range []struct {
		text string
		into *string
	}{{provider, &s.Provider}, {region, &s.Region}, {service, &s.Service}} {
		v, err := unescapePart(part.text)
		if err != nil {
			return Scope{}, badScope(text, err.Error())
		}
		*part.into = v
	}
	return s, nil
}

func badScope(text, why string) error {
	if why != "" {
		why = ": " + why
	}
	return fmt.Errorf("cloudpace: scope %q%s: want provider/account/region/service[/Operation], with * for what is missing", text, why)
}

// accountRoots are Google's resource roots, whose slash belongs to the account.
var accountRoots = []string{"projects/", "organizations/", "folders/"}

// normal is the scope with "*" read as empty, so that both spellings share
// everything.
func (s Scope) normal() Scope {
	return Scope{plain(s.Provider), plain(s.Account), plain(s.Region), plain(s.Service), plain(s.Operation)}
}

// service is the scope that numbers are kept for.
func (s Scope) service() Scope {
	s.Operation = ""
	return s
}

func (s Scope) account() accountKey { return accountKey{s.Provider, s.Account} }

func plain(part string) string {
	if part == "*" {
		return ""
	}
	return part
}

func escapeAccount(account string) string {
	for _, root := range accountRoots {
		if id, ok := strings.CutPrefix(account, root); ok {
			return root + escapeText(id)
		}
		if account == root[:len(root)-1] {
			// The bare word would be read back as a root that takes the next part.
			return fmt.Sprintf("%%%02X", account[0]) + account[1:]
		}
	}
	return escapePart(account)
}

func escapePart(part string) string {
	if part == "" || part == "*" {
		return "*"
	}
	return escapeText(part)
}

var partEscaper = strings.NewReplacer("%", "%25", "/", "%2F")

func escapeText(part string) string {
	if !strings.ContainsAny(part, "%/") {
		return part
	}
	return partEscaper.Replace(part)
}

// unescapePart reads "*" as missing, and %2A with it: a field that is "*" means the
// same as an empty one.
func unescapePart(part string) (string, error) {
	part, err := unescapeText(part)
	return plain(part), err
}

func unescapeText(part string) (string, error) {
	if !strings.Contains(part, "%") {
		return part, nil
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] != '%' {
			b.WriteByte(part[i])
			continue
		}
		if i+2 >= len(part) {
			return "", fmt.Errorf("%q ends inside an escape", part)
		}
		hi, lo := unhex(part[i+1]), unhex(part[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("%q is no escape", part[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
