package config

import (
	"os"

	"github.com/cloudpace/cloudpace"
)

// Places tells where values were set, by the path of their key
// ("ratelimit.aws.services.ec2.max_rps"): "cloudpace.yaml:12", or the variable's or
// flag's name. Of a value that follows from another that was set it is this one's place,
// with the rule: "cloudpace.yaml:12, twice max_rps". What has no place is built in.
type Places map[string]string

// LoadPlaces is [Load] with the places of what was set.
func LoadPlaces(path string) (cloudpace.Config, Places, []Warning, error) {
	text, err := fileOrNone(path)
	if err != nil {
		return cloudpace.Config{}, nil, nil, err
	}
	r := newReader()
	cfg, warnings, err := r.read(text, path+":%d", Environ(os.Environ()))
	if err != nil {
		return cfg, nil, warnings, err
	}
	return cfg, r.places(), warnings, nil
}

// follows notes that a value was not set, and follows from another that was, or that
// follows from one itself.
func (r *reader) follows(path, from, rule string) {
	if v, ok := r.values[from]; ok {
		r.derived[path] = v.at.text + ", " + rule
	} else if text, ok := r.derived[from]; ok {
		r.derived[path] = text + ", " + rule
	}
}

func (r *reader) places() Places {
	p := make(Places, len(r.values)+len(r.derived))
	for path, text := range r.derived {
		p[path] = text
	}
	for path, v := range r.values {
		p[path] = v.at.text
	}
	return p
}
