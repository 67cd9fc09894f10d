package databricks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// column is one of every result.
type column struct {
	Name     string `json:"name"`
	TypeText string `json:"type_text"`
	TypeName string `json:"type_name"`
	Position int    `json:"position"`
	id       int32  // TTypeId
}

var columns = []column{
	{"id", "BIGINT", "LONG", 0, typeBigint},
	{"name", "STRING", "STRING", 1, typeString},
}

func rowName(i int) string { return fmt.Sprintf("row-%05d", i) }

// statement is an answer about a statement.
type statement struct {
	ID       string    `json:"statement_id"`
	Status   status    `json:"status"`
	Manifest *manifest `json:"manifest,omitempty"`
	Result   *chunk    `json:"result,omitempty"`
}

type status struct {
	State string     `json:"state"`
	Error *errorInfo `json:"error,omitempty"`
}

type errorInfo struct {
	Code    string `json:"error_code"`
	Message string `json:"message"`
}

type manifest struct {
	Format string `json:"format"`
	Schema struct {
		Count   int      `json:"column_count"`
		Columns []column `json:"columns"`
	} `json:"schema"`
	Chunks     int        `json:"total_chunk_count"`
	ChunkInfos []chunkRef `json:"chunks"`
	Rows       int        `json:"total_row_count"`
	Truncated  bool       `json:"truncated"`
}

type chunkRef struct {
	Index  int `json:"chunk_index"`
	Offset int `json:"row_offset"`
	Rows   int `json:"row_count"`
}

type chunk struct {
	chunkRef
	NextIndex *int       `json:"next_chunk_index,omitempty"`
	NextLink  string     `json:"next_chunk_internal_link,omitempty"`
	Data      [][]string `json:"data_array"`
}

func respond(body any) sim.Answer {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // numbers and strings
	}
	return sim.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: text}
}

// rest carries out a call of the Statement Execution API.
func (f *Front) rest(c *call, s sim.Setting, e sim.Edit) sim.Answer {
	if c.verb == create {
		o := f.execute(c.Statement, nil, s)
		if o.look(s, false, c.wait) == running && c.OnWaitTimeout == "CANCEL" {
			o.cancel()
		}
		return respond(o.describe(s, e, false))
	}
	id, ok := parseID(c.id)
	o := f.operations.get(id)
	if !ok || o == nil {
		return *refused(problem{http.StatusNotFound, "RESOURCE_DOES_NOT_EXIST", "The statement " + c.id + " does not exist."})
	}
	switch c.verb {
	case cancel:
		o.cancel()
		return respond(struct{}{})
	case remove:
		f.close(id)
		return respond(struct{}{})
	case getChunk:
		if state := o.look(s, false, 0); state != finished {
			return *refused(problem{http.StatusBadRequest, "INVALID_STATE", "The statement " + c.id + " has no result: its state is " + names[state] + "."})
		}
		if c.chunk >= chunks(s.Warehouse) {
			return *refused(problem{http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "There is no chunk " + strconv.Itoa(c.chunk) + "."})
		}
		return respond(o.chunk(c.chunk, s.Warehouse, e))
	}
	return respond(o.describe(s, e, true))
}

var names = map[state]string{running: "RUNNING", finished: "SUCCEEDED", canceled: "CANCELED", failed: "FAILED"}

// describe tells the state of a statement, and its first chunk when it is over.
func (o *operation) describe(s sim.Setting, e sim.Edit, poll bool) statement {
	state := o.look(s, poll, 0)
	answer := statement{ID: o.id.String(), Status: status{State: names[state]}}
	switch state {
	case running:
		if !poll {
			answer.Status.State = "PENDING" // until it is asked about
		}
	case failed:
		answer.Status.Error = &errorInfo{"BAD_REQUEST", o.failure}
	case finished:
		w := s.Warehouse
		m := &manifest{Format: "JSON_ARRAY", Chunks: chunks(w), Rows: w.Rows}
		m.Schema.Count, m.Schema.Columns = len(columns), columns
		for i := range m.Chunks {
			m.ChunkInfos = append(m.ChunkInfos, reference(i, w))
		}
		answer.Manifest, answer.Result = m, o.chunk(0, w, e)
	}
	return answer
}

// chunks is how many there are: one even of nothing.
func chunks(w sim.Warehouse) int { return max(1, (w.Rows+w.PageRows-1)/w.PageRows) }

func reference(i int, w sim.Warehouse) chunkRef {
	from := i * w.PageRows
	return chunkRef{Index: i, Offset: from, Rows: min(w.PageRows, w.Rows-from)}
}

// chunk makes the rows of one, and tells where the next one is.
func (o *operation) chunk(i int, w sim.Warehouse, e sim.Edit) *chunk {
	c := &chunk{chunkRef: reference(i, w), Data: [][]string{}}
	if e.EmptyPage {
		c.Rows = 0
	}
	for n := range c.Rows {
		c.Data = append(c.Data, []string{strconv.Itoa(c.Offset + n), rowName(c.Offset + n)})
	}
	next := i + 1
	if e.RepeatToken {
		next = i
	}
	if next < chunks(w) {
		c.NextIndex = &next
		c.NextLink = fmt.Sprintf("%s/%s/result/chunks/%d", StatementsPath, o.id, next)
	}
	return c
}
