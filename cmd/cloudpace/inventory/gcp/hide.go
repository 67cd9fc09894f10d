package gcp

import (
	"fmt"
	"math"
	"strings"
)

// notKept stands where a value was that may be a secret: an inventory needs to know
// at most that there is one.
const notKept = "(not kept)"

// secret are the properties whose values let somebody in, in lower case. Google leaves
// out most; these are what types are known to show, or have shown by mistake.
var secret = map[string]bool{
	"accesstoken": true, "apikey": true, "authstring": true, "clientsecret": true, "connectionstring": true, "keystring": true,
	"password": true, "privatekey": true, "privatekeydata": true, "rootpassword": true, "secret": true, "sharedsecret": true,
	"startupscript": true, "userdata": true,
}

// settings are the properties that hold what programs are started with, in lower case:
// names and values as a map, or a list of objects with a value. People put passwords
// there.
var settings = map[string]bool{
	"env": true, "envvariables": true, "environmentvariables": true, "buildenvironmentvariables": true, "envvars": true,
	"secretenvironmentvariables": true, "substitutions": true,
}

// hide replaces texts that may be secrets, at any depth, and numbers that JSON does not
// have. Names stay.
func hide(data map[string]any, typ string) {
	// Secrets and settings of Kubernetes are all values.
	if typ == "k8s.io/Secret" || typ == "k8s.io/ConfigMap" {
		for _, key := range []string{"data", "stringData", "binaryData"} {
			data[key] = withoutValues(data[key])
			if data[key] == nil {
				delete(data, key)
			}
		}
	}
	for key, value := range data {
		data[key] = hidden(key, value)
	}
}

func hidden(key string, value any) any {
	key = strings.ToLower(key)
	switch v := value.(type) {
	case string:
		if secret[key] && v != "" {
			return notKept
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	case map[string]any:
		// An instance's metadata is {"items": [{"key": "startup-script", "value": …}]}.
		if items, ok := v["items"].([]any); ok && key == "metadata" {
			v["items"] = withoutValues(items)
		}
		if settings[key] {
			return withoutValues(v)
		}
		for k, e := range v {
			v[k] = hidden(k, e)
		}
	case []any:
		if settings[key] {
			return withoutValues(v)
		}
		for i, e := range v {
			v[i] = hidden(key, e)
		}
	}
	return value
}

// withoutValues keeps the names of a map, or of a list of names and values.
func withoutValues(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = notKept
		}
	case []any:
		for i, e := range v {
			one, ok := e.(map[string]any)
			if !ok {
				v[i] = notKept
				continue
			}
			for key, value := range one {
				if key == "value" {
					one[key] = notKept
				} else {
					one[key] = hidden(key, value)
				}
			}
		}
	case nil:
		return nil
	default:
		return notKept
	}
	return v
}
