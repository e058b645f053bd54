package wfx

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

// Base is the prefix of all paths.
const Base = "/api/wfx/v1"

// Access is the permission that an operation needs on the north.
type Access int

// The kinds of access.
const (
	Open    Access = iota // none
	Read                  // to read
	Start                 // to create jobs
	Operate               // to change and delete jobs
	Author                // to create and delete workflows
)

// Operation is one operation of the contract.
type Operation struct {
	ID     string
	Access Access
	Stream bool // an event stream: it takes no place among requests

	method, path string
	params       []string
	north        bool // refused on the south
	filtered     bool // supports X-Response-Filter
	handle       func(*View, http.ResponseWriter, *request) error
}

// Body reports whether the operation reads a body.
func (op *Operation) Body() bool {
	return op.method == "POST" || op.method == "PUT" || op.ID == "deleteTags"
}

// Route returns the method and the path of the operation.
func (op *Operation) Route() (method, path string) { return op.method, Base + op.path }

// Operations is everything that is served below Base.
var Operations = []Operation{
	{"listWorkflows", Read, false, "GET", "/workflows", []string{"limit", "offset", "sort", "pagination"}, false, true, (*View).listWorkflows},
	{"createWorkflow", Author, false, "POST", "/workflows", nil, true, true, (*View).createWorkflow},
	{"getWorkflow", Read, false, "GET", "/workflows/{name}", nil, false, true, (*View).getWorkflow},
	{"deleteWorkflow", Author, false, "DELETE", "/workflows/{name}", nil, true, false, (*View).deleteWorkflow},

	{"listJobs", Read, false, "GET", "/jobs", []string{
		"limit", "offset", "sort", "state", "group", "clientId", "tag", "workflow", "pagination",
		"stimeFrom", "stimeTo", "mtimeFrom", "mtimeTo",
	}, false, true, (*View).listJobs},
	{"createJob", Start, false, "POST", "/jobs", nil, true, true, (*View).createJob},
	{"followJobs", Read, true, "GET", "/jobs/events", []string{"clientIds", "jobIds", "workflows", "actions", "tags"}, false, false, (*View).followJobs},
	{"getJob", Read, false, "GET", "/jobs/{id}", []string{"history"}, false, true, (*View).getJob},
	{"deleteJob", Operate, false, "DELETE", "/jobs/{id}", nil, true, false, (*View).deleteJob},
	{"getStatus", Read, false, "GET", "/jobs/{id}/status", nil, false, true, part(statusPart).get},
	{"updateStatus", Operate, false, "PUT", "/jobs/{id}/status", nil, false, true, (*View).updateStatus},
	{"getJobDefinition", Read, false, "GET", "/jobs/{id}/definition", nil, false, true, part(definitionPart).get},
	{"updateJobDefinition", Operate, false, "PUT", "/jobs/{id}/definition", nil, false, true, (*View).updateJobDefinition},
	{"getTags", Read, false, "GET", "/jobs/{id}/tags", nil, false, true, part(tagsPart).get},
	{"addTags", Operate, false, "POST", "/jobs/{id}/tags", nil, true, true, (*View).addTags},
	{"deleteTags", Operate, false, "DELETE", "/jobs/{id}/tags", nil, true, true, (*View).deleteTags},

	{"getHealth", Open, false, "GET", "/health", nil, false, false, (*View).getHealth},
	{"getVersion", Open, false, "GET", "/version", nil, false, false, (*View).getVersion},
	{"getOpenAPI", Open, false, "GET", "/openapi.json", nil, false, false, (*View).getOpenAPI},
	{"getSwagger", Open, false, "GET", "/swagger.json", nil, false, false, (*View).getSwagger},
	{"getRoot", Open, false, "GET", "/", nil, false, false, (*View).getRoot},
}

// rooted are paths that are also served without Base.
var rooted = []string{"/health", "/version"}

func newTable() *web.Table[Operation] {
	table := &web.Table[Operation]{}
	for i := range Operations {
		op := &Operations[i]
		table.Add(op.method, Base+strings.TrimSuffix(op.path, "/"), op)
		if op.path == "/" {
			table.Add(op.method, Base+"/{$}", op)
			table.Add(op.method, "/{$}", op)
		}
		if slices.Contains(rooted, op.path) {
			table.Add(op.method, op.path, op)
		}
	}
	return table
}

// Serves reports whether a path belongs to the wfx API on the north, where the root belongs to another API.
func Serves(at string) bool {
	return at == Base || strings.HasPrefix(at, Base+"/") || slices.Contains(rooted, at)
}

// Match is the operation of a request.
type Match = web.Match[Operation]

// Find returns the operation of a request, for [View.Serve].
func (v *View) Find(r *http.Request) Match { return v.table.Find(r) }
