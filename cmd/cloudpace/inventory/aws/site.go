package aws

import (
	"cmp"
	"reflect"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// site is an account in a region: what the rows of the table work with. Each
// task has its own, which goes with it, so that the clients in memory are those
// of the tasks under way and not those of all services in all regions.
type site struct {
	partition, account string
	region             string // where the clients ask
	// listed has the types that tasks of this run list, for the sweep.
	listed map[string]bool
	cfg    aws.Config // of the region

	mu      sync.Mutex
	clients map[reflect.Type]any
}

func newSite(cfg aws.Config, partition, account, region string, listed map[string]bool) *site {
	cfg = cfg.Copy()
	cfg.Region = region
	return &site{partition: partition, account: account, region: region, listed: listed, cfg: cfg, clients: make(map[reflect.Type]any)}
}

// client gives the site's client of a service, made when first asked for:
// client(s, sqs.NewFromConfig). Options count where it is made.
func client[C, O any](s *site, create func(aws.Config, ...func(*O)) *C, options ...func(*O)) *C {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := reflect.TypeFor[C]()
	c, ok := s.clients[key].(*C)
	if !ok {
		c = create(s.cfg, options...)
		s.clients[key] = c
	}
	return c
}

// arn makes the ARN of something in this region. owner "" is the account that
// is read; some types have "-" for no account in their ARN.
func (s *site) arn(service, owner, resource string) string {
	owner = cmp.Or(owner, s.account)
	if owner == noOwner {
		owner = ""
	}
	return "arn:" + s.partition + ":" + service + ":" + s.region + ":" + owner + ":" + resource
}

const noOwner = "-"
