package databricks

import "strings"

// REST reads method and path of a request to a workspace's REST API. It is false
// for paths outside of /api/, and of an api without a name; and for what the SQL
// drivers ask beside their work (feature flags), since a connection that is being
// opened waits for the answer and does without.
func REST(method, path string) (Command, bool) {
	path = strings.TrimRight(path, "/")
	after, ok := strings.CutPrefix(path, "/api/")
	if !ok {
		return Command{}, false
	}
	if method == "" {
		method = "GET"
	}
	version, rest, ok := strings.Cut(after, "/")
	if !ok || rest == "" {
		return Command{}, false
	}
	if tail, ok := strings.CutPrefix(rest, "sql/statements"); ok && (tail == "" || tail[0] == '/') {
		return statement(method, version, strings.TrimPrefix(tail, "/")), true
	}
	api, more, _ := strings.Cut(rest, "/")
	if api == "sql" && more != "" {
		api, _, _ = strings.Cut(more, "/") // warehouses, queries: "sql" alone is Thrift
	}
	if api == "" || api == "connector-service" {
		return Command{}, false
	}
	// Of what else there is only reading is known to be safe.
	return Command{Service: api, Name: method + " " + template(path), Repeatable: reads(method)}, true
}

func reads(method string) bool { return method == "GET" || method == "HEAD" }

// statement reads a path of the Statement Execution API: tail is what follows
// sql/statements/, and begins with the statement's id.
func statement(method, version, tail string) Command {
	id, part, _ := strings.Cut(tail, "/")
	c := Command{Service: "sqlexec", statement: id}
	switch {
	case reads(method):
		c.Repeatable = true
	case method == "POST":
		c.Repeatable = id != "" && part == "cancel"
	case method == "DELETE":
		c.Repeatable = id != "" && part == "" // closes the statement
	}
	c.Name = statementName(method, version, id, part)
	return c
}

// statementName makes the template of such a path. What is asked most often is
// spared the making.
func statementName(method, version, id, part string) string {
	if version == "2.0" {
		switch {
		case method == "POST" && id == "":
			return "POST /api/2.0/sql/statements"
		case method == "GET" && id != "" && part == "":
			return "GET /api/2.0/sql/statements/{id}"
		case method == "GET" && strings.HasPrefix(part, "result/chunks/"):
			return "GET /api/2.0/sql/statements/{id}/result/chunks/{id}"
		case method == "POST" && part == "cancel":
			return "POST /api/2.0/sql/statements/{id}/cancel"
		}
	}
	name := method + " /api/" + version + "/sql/statements"
	if id != "" {
		name += "/{id}"
	}
	if part != "" {
		name += template("///" + part)[2:] // as if it stood where ids may
	}
	return name
}

// template takes the ids out of a path: what has a digit, the version aside.
func template(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if i > 2 && strings.ContainsAny(part, "0123456789") {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}
