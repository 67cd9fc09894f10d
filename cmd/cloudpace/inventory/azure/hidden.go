package azure

import "strings"

// notKept stands where a value was that may be a secret: an inventory needs to know
// at most that there is one.
const notKept = "(not kept)"

// secret are the properties whose values let somebody in, in lower case: addresses
// with a key in them, which Azure shows to whoever may read, and what providers are
// known to have shown by mistake.
var secret = map[string]bool{
	"adminpassword": true, "administratorloginpassword": true, "authorizationkey": true, "callbackurl": true,
	"connectionstring": true, "customdata": true, "httptriggerurl": true, "password": true, "primarykey": true,
	"primarymasterkey": true, "protectedsettings": true, "publishingpassword": true, "radiusserversecret": true,
	"sastoken": true, "secondarykey": true, "secret": true, "serviceuri": true, "sharedkey": true, "userdata": true,
}

// hide replaces the texts under such names, at any depth.
func hide(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && text != "" && secret[strings.ToLower(key)] {
				v[key] = notKept
				continue
			}
			hide(value)
		}
	case []any:
		for _, e := range v {
			hide(e)
		}
	}
}
