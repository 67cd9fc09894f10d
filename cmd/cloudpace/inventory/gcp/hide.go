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
// out most; these are what types are known to show, or have shown by mistake. The last
// is an annotation that has all of an object once more.
var secret = map[string]bool{
	"accesstoken": true, "apikey": true, "authstring": true, "clientsecret": true, "connectionstring": true, "keystring": true,
	"password": true, "privatekey": true, "privatekeydata": true, "rootpassword": true, "secret": true, "sharedsecret": true,
	"startupscript": true, "userdata": true, "kubectl.kubernetes.io/last-applied-configuration": true,
}

// settings are the properties that hold what programs are started with, in lower case:
// names and values as a map, or a list of objects with a value. People put passwords
// there.
func settings(key string) bool {
	for _, end := range []string{"envvariables", "environmentvariables", "envvars"} { // build…, secret…
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return key == "env" || key == "substitutions"
}

// ofMachines tells the types whose metadata, where it is texts alone, is what machines
// are started with: nodes of clusters, notebooks. Kubernetes and what is modelled after
// it describe objects there, and Compute Engine has a list.
func ofMachines(typ string) bool {
	service, _, _ := strings.Cut(typ, "/")
	return service != "k8s.io" && !strings.HasSuffix(service, ".k8s.io") && service != "run.googleapis.com" && service != "compute.googleapis.com"
}

// hide replaces texts that may be secrets, at any depth, and numbers that JSON does not
// have. Names stay.
func hide(data map[string]any, typ string) {
	// Secrets and settings of Kubernetes are all values.
	if typ == "k8s.io/Secret" || typ == "k8s.io/ConfigMap" {
		for _, key := range []string{"data", "stringData", "binaryData"} {
			data[key] = withoutValues(data[key], false)
			if data[key] == nil {
				delete(data, key)
			}
		}
	}
	machines := ofMachines(typ)
	for key, value := range data {
		data[key] = hidden(key, value, machines)
	}
}

func hidden(key string, value any, machines bool) any {
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
		// The metadata of an instance, and that of a project for all of its instances
		// (commonInstanceMetadata), is {"items": [{"key": "startup-script", "value": …}]}.
		if items, ok := v["items"].([]any); ok && strings.HasSuffix(key, "metadata") {
			v["items"] = withoutValues(items, machines)
		}
		if settings(key) || key == "metadata" && machines && texts(v) {
			return withoutValues(v, machines)
		}
		for k, e := range v {
			v[k] = hidden(k, e, machines)
		}
	case []any:
		if settings(key) {
			return withoutValues(v, machines)
		}
		for i, e := range v {
			v[i] = hidden(key, e, machines)
		}
	}
	return value
}

// texts tells a map that holds nothing else.
func texts(m map[string]any) bool {
	for _, v := range m {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// withoutValues keeps the names of a map, or of a list of names and values.
func withoutValues(v any, machines bool) any {
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
					one[key] = hidden(key, value, machines)
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
