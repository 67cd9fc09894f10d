package azure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// item is a thing as Resource Manager or Resource Graph gives it.
type item struct {
	ID, Name, Type, Location string
	Subscription             string // where Resource Graph says so
	Tags                     map[string]string
	rest                     map[string]any // all but those
}

// asked gives the items of the next page as the service answered them, and where the
// page after it is. An answer without a list is none, and not an empty one: what
// stands in the place of the service would pass for a subscription with nothing in it.
func asked(ctx context.Context, p pages) (items []item, next string, err error) {
	var response *http.Response
	err = p.next(policy.WithCaptureResponse(ctx, &response))
	answered(ctx, response, err)
	if err != nil {
		return nil, "", brief(err)
	}
	if response == nil {
		return nil, "", errors.New("protocol: a page came without an answer")
	}
	body, err := runtime.Payload(response)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Value    json.RawMessage `json:"value"`
		NextLink string          `json:"nextLink"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, "", fmt.Errorf("protocol: the answer is no list: %w", err)
	}
	if page.Value == nil || string(page.Value) == "null" {
		return nil, "", errors.New("protocol: the answer has no list in it")
	}
	var objects []map[string]any
	if err := decode(page.Value, &objects); err != nil {
		return nil, "", fmt.Errorf("protocol: the answer is no list of objects: %w", err)
	}
	items = make([]item, len(objects))
	for i, o := range objects {
		if items[i], err = itemOf(o); err != nil {
			return nil, "", err
		}
	}
	return items, page.NextLink, nil
}

// answered notes the id by which Azure's support finds the answer.
func answered(ctx context.Context, response *http.Response, err error) {
	var failed *azcore.ResponseError
	if response == nil && errors.As(err, &failed) {
		response = failed.RawResponse
	}
	if response != nil {
		h := response.Header
		inventory.Answered(ctx, cmp.Or(h.Get("x-ms-request-id"), h.Get("x-ms-correlation-request-id")))
	}
}

// decode reads JSON with its numbers as they were written.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// itemOf takes apart what an asset has fields for.
func itemOf(o map[string]any) (item, error) {
	i := item{ID: take(o, "id"), Name: take(o, "name"), Type: take(o, "type"), Location: place(take(o, "location")), rest: o}
	if i.ID == "" {
		return item{}, errors.New("protocol: an item of the list has no id")
	}
	i.Tags = make(map[string]string)
	if tags, ok := o["tags"].(map[string]any); ok {
		for key, value := range tags {
			text, ok := value.(string)
			if !ok {
				text = fmt.Sprint(value)
			}
			i.Tags[key] = text
		}
	}
	delete(o, "tags")
	return i, nil
}

// take moves a text out of an object.
func take(o map[string]any, key string) string {
	text, ok := o[key].(string)
	if ok {
		delete(o, key)
	}
	return text
}

// nowhere is what ARM calls the location of what belongs to no region.
const nowhere = "global"

// place writes a location as ARM's names of regions are, however a provider does:
// "West Europe" is westeurope.
func place(location string) string { return strings.ToLower(strings.ReplaceAll(location, " ", "")) }

// inherit gives a part the place of what it is a part of.
func (i *item) inherit(parent item) { i.Location = cmp.Or(i.Location, parent.Location) }

// asset describes an item. Its properties are what is not in the asset's own fields,
// as the service names it.
func (s *site) asset(i item) inventory.Asset {
	hide(i.rest)
	properties, err := json.Marshal(i.rest)
	if err != nil {
		panic(fmt.Sprintf("azure: properties of %s: %v", i.ID, err)) // they were JSON
	}
	return inventory.Asset{
		Account: i.Subscription, Region: cmp.Or(i.Location, nowhere), Type: typeName(i.Type), ID: i.ID, Name: i.Name, Tags: i.Tags, Properties: properties,
	}
}

// typeName writes a type as the table does: Resource Graph has it in lower case, and
// providers do not agree about it.
func typeName(typ string) string { return cmp.Or(typeNames[strings.ToLower(typ)], typ) }

// typeNames is filled when the table is there: the table's readers look into it.
var typeNames = make(map[string]string)

func init() {
	typeNames["microsoft.resources/subscriptions/resourcegroups"] = groupType // Resource Graph's name
	for _, r := range table {
		for _, t := range r.Types {
			typeNames[strings.ToLower(t)] = t
		}
	}
}
