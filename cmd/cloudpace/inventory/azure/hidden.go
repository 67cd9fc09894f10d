package azure

import (
	"slices"
	"strings"
)

// notKept stands where a value was that may be a secret: an inventory needs to know
// at most that there is one.
const notKept = "(not kept)"

// secret are the properties whose values let somebody in, in lower case: addresses
// with a key in them, which Azure shows to whoever may read, and what providers are
// known to have shown by mistake.
var secret = map[string]bool{
	"authorizationkey": true, "callbackurl": true, "customdata": true, "httptriggerurl": true, "primarykey": true,
	"primarymasterkey": true, "protectedsettings": true, "secondarykey": true, "secondarymasterkey": true,
	"serviceuri": true, "userdata": true,
}

// secretEnds are what the names of such properties end with, however they begin.
var secretEnds = []string{
	"accesskey", "accesstoken", "accountkey", "apikey", "connectionstring", "passphrase", "password", "privatekey",
	"sastoken", "secret", "secrets", "sharedkey",
}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return secret[name] || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// hide replaces the texts under such names, at any depth below them. What an id names
// has readers of its own, so that ids stay: which vault a secret is in is no secret.
func hide(v any) { hideIn(v, false) }

func hideIn(v any, hidden bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = hideIn(value, hidden || isSecret(key))
		}
	case []any:
		for i, e := range v {
			v[i] = hideIn(e, hidden)
		}
	case string:
		if hidden && v != "" && !strings.HasPrefix(v, "/subscriptions/") {
			return notKept
		}
	}
	return v
}
