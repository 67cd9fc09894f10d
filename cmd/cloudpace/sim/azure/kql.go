package azure

import (
	"slices"
	"strconv"
	"strings"
)

// query is what the simulator understands of KQL: a table, conditions on columns
// that are texts, an order, a limit and a projection.
//
//	Resources | where type =~ 'microsoft.compute/disks' and location != 'eastus'
//	          | project id, name, properties | order by id asc | limit 50
type query struct {
	table      string // in lower case
	where      []condition
	by         string // a column in lower case; "" is no order
	descending bool
	limit      int      // -1 is none
	columns    []string // of project, as the table has them; none is all
}

// condition compares a column with texts.
type condition struct {
	column string // in lower case
	op     string
	values []string
}

// columns are those of both tables.
var columns = []string{"id", "name", "type", "tenantId", "kind", "location", "resourceGroup", "subscriptionId", "managedBy", "sku", "plan", "properties", "tags", "identity", "zones", "extendedLocation"}

// tables that there are.
var tables = []string{"resources", "resourcecontainers"}

// parseError says where a query is not understood.
type parseError struct {
	code, token  string
	line, column int
}

// parser goes over the tokens of a query.
type parser struct {
	tokens []token
	at     int
}

// stop unwinds the parser; parseQuery catches it.
type stop struct{ *parseError }

// parseQuery reads a query.
func parseQuery(text string) (q *query, wrong *parseError) {
	defer func() {
		if s, ok := recover().(stop); ok {
			q, wrong = nil, s.parseError
		}
	}()
	p := &parser{tokens: lex(text)}
	q = &query{table: "resources", limit: -1}
	// The table may be left out, as in "where type == …" and "| project id".
	if t := p.peek(); t.kind == word && !slices.Contains(operators, strings.ToLower(t.text)) {
		if q.table = strings.ToLower(p.next().text); !slices.Contains(tables, q.table) {
			p.fail("InvalidTable", t)
		}
		if p.peek().kind == end {
			return q, nil
		}
		p.want("|")
	} else if t.kind == sign && t.text == "|" {
		p.next()
	}
	for {
		p.operator(q)
		if p.peek().kind == end {
			return q, nil
		}
		p.want("|")
	}
}

var operators = []string{"where", "filter", "project", "order", "sort", "limit", "take"}

func (p *parser) operator(q *query) {
	t := p.next()
	op := strings.ToLower(t.text)
	if t.kind != word || !slices.Contains(operators, op) {
		p.fail("InvalidQueryLanguage", t)
	}
	if q.limit >= 0 && op != "project" {
		p.fail("InvalidQueryLanguage", t) // it would have to look at what is left
	}
	switch op {
	case "where", "filter":
		q.where = append(q.where, p.condition())
		for strings.EqualFold(p.peek().text, "and") && p.peek().kind == word {
			p.next()
			q.where = append(q.where, p.condition())
		}
	case "project":
		q.columns = append([]string(nil), p.column())
		for p.peek().text == "," {
			p.next()
			q.columns = append(q.columns, p.column())
		}
	case "order", "sort":
		p.want("by")
		q.by = p.textColumn()
		q.descending = true // as KQL has it
		if d := strings.ToLower(p.peek().text); p.peek().kind == word && (d == "asc" || d == "desc") {
			q.descending = d == "desc"
			p.next()
		}
	default:
		t := p.next()
		n, err := strconv.Atoi(t.text)
		if t.kind != number || err != nil {
			p.fail("ParserFailure", t)
		}
		q.limit = n
	}
}

// column reads one that a table has.
func (p *parser) column() string {
	t := p.next()
	for _, c := range columns {
		if t.kind == word && strings.EqualFold(c, t.text) {
			return c
		}
	}
	p.fail("ParserFailure", t)
	return ""
}

func (p *parser) textColumn() string {
	t := p.peek()
	c := strings.ToLower(p.column())
	if !textColumn(c) {
		p.fail("ParserFailure", t)
	}
	return c
}

func (p *parser) condition() condition {
	c := condition{column: p.textColumn()}
	t := p.next()
	c.op = strings.ToLower(t.text)
	switch c.op {
	case "==", "=~", "!=", "!~", "startswith", "contains", "has":
		c.values = []string{p.text()}
	case "in", "in~", "!in", "!in~":
		p.want("(")
		c.values = append(c.values, p.text())
		for p.peek().text == "," {
			p.next()
			c.values = append(c.values, p.text())
		}
		p.want(")")
	default:
		p.fail("ParserFailure", t)
	}
	return c
}

func (p *parser) text() string {
	t := p.next()
	if t.kind != literal {
		p.fail("ParserFailure", t)
	}
	return t.text
}

func (p *parser) peek() token { return p.tokens[p.at] }

// next gives a token; the last is given again and again.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) want(text string) {
	if t := p.next(); !strings.EqualFold(t.text, text) || t.kind == literal {
		p.fail("ParserFailure", t)
	}
}

func (p *parser) fail(code string, t token) {
	panic(stop{&parseError{code: code, token: name(t.text), line: t.line, column: t.column}})
}

// mayHave tells whether things of a type can be in the result, so that the others
// need not be looked at.
func (q *query) mayHave(kind string) bool {
	for _, c := range q.where {
		if c.column == "type" && !c.holds(strings.ToLower(kind)) {
			return false
		}
	}
	return true
}

func (q *query) fits(r *rows, w row) bool {
	for _, c := range q.where {
		value, _ := r.column(w, c.column)
		if !c.holds(value) {
			return false
		}
	}
	return true
}

func (c condition) holds(value string) bool {
	lower := strings.ToLower(value)
	one := func(same func(string) bool) bool { return slices.ContainsFunc(c.values, same) }
	exact := func(v string) bool { return v == value }
	alike := func(v string) bool { return strings.EqualFold(v, value) }
	switch c.op {
	case "==", "in":
		return one(exact)
	case "=~", "in~":
		return one(alike)
	case "!=", "!in":
		return !one(exact)
	case "!~", "!in~":
		return !one(alike)
	case "startswith":
		return strings.HasPrefix(lower, strings.ToLower(c.values[0]))
	}
	return strings.Contains(lower, strings.ToLower(c.values[0]))
}

// project leaves of a row what is asked for.
func (q *query) project(o object) object {
	if len(q.columns) == 0 {
		return o
	}
	few := make(object, len(q.columns))
	for _, c := range q.columns {
		few[c] = o[c]
	}
	return few
}

// pageable tells whether there can be a token: not where no column is a text.
func (q *query) pageable() bool {
	return len(q.columns) == 0 || slices.ContainsFunc(q.columns, func(c string) bool { return textColumn(strings.ToLower(c)) })
}
