package azure

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// TestOrdered: results are remembered within bounds, the last ones.
func TestOrdered(t *testing.T) {
	var o ordered
	estate := new(sim.Estate)
	for i := range 2 * rememberResults {
		o.put(estate, strconv.Itoa(i), &rows{list: make([]row, i)})
	}
	if o.get(estate, "0") != nil || o.get(estate, strconv.Itoa(rememberResults-1)) != nil {
		t.Error("what is old is still there")
	}
	want := 0
	for i := rememberResults; i < 2*rememberResults; i++ {
		if want += i; o.get(estate, strconv.Itoa(i)) == nil {
			t.Errorf("%d is not there", i)
		}
	}
	if o.total != want || len(o.last) != rememberResults {
		t.Errorf("%d results of %d rows, want %d of %d", len(o.last), o.total, rememberResults, want)
	}
	o.put(estate, "too much", &rows{list: make([]row, rememberRows+1)})
	if o.get(estate, "too much") != nil || len(o.last) != rememberResults {
		t.Error("more rows than may be were remembered, or took others' place")
	}
	o.put(estate, "all that may be", &rows{list: make([]row, rememberRows)})
	if o.get(estate, "all that may be") == nil || o.total != rememberRows {
		t.Errorf("%d rows", o.total)
	}
}

// TestListOnce: the list of everything is found once, and not for each page.
func TestListOnce(t *testing.T) {
	front := New()
	p := sim.Default(front)
	p.Quotas, p.Estate.Assets = nil, 500
	server, err := sim.New(front, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"&$top=10", "&$top=20", "&$top=30", "&$filter=resourceType%20eq%20'Microsoft.Compute/disks'"} {
		r := httptest.NewRequest(http.MethodGet, "/subscriptions/"+example(1)+"/resources?api-version=2021-04-01"+query, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+Token)
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
	}
	if n := len(front.sorted.last); n != 2 {
		t.Errorf("%d lists were found, want one, and one of a type", n)
	}
}
