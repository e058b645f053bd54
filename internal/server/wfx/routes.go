package wfx

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Base is where the paths of the contract begin.
const Base = "/api/wfx/v1"

// Access is what a caller on the north must be allowed to.
type Access int

// The kinds of access.
const (
	Open    Access = iota // everybody
	Read                  // whoever may read
	Start                 // whoever may create jobs
	Operate               // whoever may change and delete them
	Author                // whoever may create and delete workflows
)

// Operation is one operation of the contract.
type Operation struct {
	ID     string
	Access Access
	Stream bool // it lasts: it takes no place among requests

	method, path string
	params       []string
	north        bool // the south refuses it
	filtered     bool // it takes X-Response-Filter
	handle       func(*View, http.ResponseWriter, *request) error
}

// Body reports whether the operation reads a body.
func (op *Operation) Body() bool {
	return op.method == "POST" || op.method == "PUT" || op.ID == "deleteTags"
}

// Route is the method of the operation, and its path.
func (op *Operation) Route() (method, path string) { return op.method, Base + op.path }

// Operations lists all of them.
func Operations() []Operation { return slices.Clone(operations) }

// operations is everything that is served below Base, but for the two documents.
var operations = []Operation{
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
	{"getStatus", Read, false, "GET", "/jobs/{id}/status", nil, false, true, (*View).getStatus},
	{"updateStatus", Operate, false, "PUT", "/jobs/{id}/status", nil, false, true, (*View).updateStatus},
	{"getJobDefinition", Read, false, "GET", "/jobs/{id}/definition", nil, false, true, (*View).getJobDefinition},
	{"updateJobDefinition", Operate, false, "PUT", "/jobs/{id}/definition", nil, false, true, (*View).updateJobDefinition},
	{"getTags", Read, false, "GET", "/jobs/{id}/tags", nil, false, true, (*View).getTags},
	{"addTags", Operate, false, "POST", "/jobs/{id}/tags", nil, true, true, (*View).addTags},
	{"deleteTags", Operate, false, "DELETE", "/jobs/{id}/tags", nil, true, true, (*View).deleteTags},

	{"getHealth", Open, false, "GET", "/health", nil, false, false, (*View).getHealth},
	{"getVersion", Open, false, "GET", "/version", nil, false, false, (*View).getVersion},
	{"getOpenAPI", Open, false, "GET", "/openapi.json", nil, false, false, (*View).getOpenAPI},
	{"getSwagger", Open, false, "GET", "/swagger.json", nil, false, false, (*View).getSwagger},
	{"getRoot", Open, false, "GET", "/", nil, false, false, (*View).getRoot},
}

// rooted are those that are also found without Base.
var rooted = []string{"/health", "/version"}

// methods are the operations of a path.
type methods map[string]*Operation

// ServeHTTP is never called: the mux only finds the operations of a path.
func (methods) ServeHTTP(http.ResponseWriter, *http.Request) {}

func newMux() *http.ServeMux {
	paths := map[string]methods{}
	for i := range operations {
		op := &operations[i]
		if paths[op.path] == nil {
			paths[op.path] = methods{}
		}
		paths[op.path][op.method] = op
	}
	mux := http.NewServeMux()
	for at, m := range paths {
		if at == "/" {
			at = "/{$}"
			mux.Handle(Base, m)
		}
		mux.Handle(Base+at, m)
	}
	for _, at := range rooted {
		mux.Handle(at, paths[at])
	}
	mux.Handle("/{$}", paths["/"])
	return mux
}

func (m methods) allow() string {
	out := []string{"OPTIONS"}
	for method := range m {
		out = append(out, method)
	}
	if m["GET"] != nil {
		out = append(out, "HEAD")
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Serves reports whether a path is the view's where another interface has the root: that
// of the north.
func Serves(at string) bool {
	return at == Base || strings.HasPrefix(at, Base+"/") || slices.Contains(rooted, at)
}

// Find is the operation of a request, nil where there is none.
func (v *View) Find(r *http.Request) *Operation {
	_, op := v.find(r)
	return op
}

func (v *View) find(r *http.Request) (methods, *Operation) {
	at := r.URL.EscapedPath()
	if at != "/" && path.Clean(at) != strings.TrimSuffix(at, "/") { // a//b, a/../b
		return nil, nil
	}
	h, pattern := v.mux.Handler(r)
	found, ok := h.(methods)
	if !ok {
		return nil, nil
	}
	names, parts := strings.Split(pattern, "/"), strings.Split(at, "/")
	for i, name := range names {
		if len(name) > 2 && name[0] == '{' && name != "{$}" && i < len(parts) {
			value, err := url.PathUnescape(parts[i])
			if err != nil {
				value = parts[i]
			}
			r.SetPathValue(name[1:len(name)-1], value)
		}
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return found, found[method]
}
