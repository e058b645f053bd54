package server

import "net/http"

// route is one operation of the contract.
type route struct {
	method, path string
	operation    string // its operationId
	roles        []Role // who may; nil: everybody, without a token
	params       []string
	handle       func(*Server, http.ResponseWriter, *request) error
	exempt       bool // from the capacity for requests: cheap, or counted elsewhere
}

// Who may do what. The contract says the same, and a test compares them.
var (
	readers   = []Role{Viewer, Operator, Author, Admin}
	operators = []Role{Operator, Admin}
	authors   = []Role{Author, Admin}
	starters  = []Role{Operator, Author, Admin}
	producers = []Role{EventProducer, Operator, Admin}
)

// routes is everything that is served. What is not here is not there.
var routes = []route{
	{"POST", "/api/v1/definitions", "deployDefinition", authors, []string{"dialect", "dry-run"}, (*Server).deployDefinition, false},
	{"GET", "/api/v1/definitions", "listDefinitions", readers, []string{"limit", "after", "versions"}, (*Server).listDefinitions, false},
	{"GET", "/api/v1/definitions/{definition}", "getDefinition", readers, []string{"version", "digest"}, (*Server).getDefinition, false},
	{"DELETE", "/api/v1/definitions/{definition}", "deleteDefinition", authors, []string{"version"}, (*Server).deleteDefinition, false},
	{"GET", "/api/v1/definitions/{definition}/versions", "listVersions", readers, nil, (*Server).listVersions, false},
	{"GET", "/api/v1/definitions/{definition}/source", "getSource", readers, []string{"version", "digest"}, (*Server).getSource, false},
	{"GET", "/api/v1/definitions/{definition}/graph.svg", "getGraph", readers, []string{"version", "digest", "format"}, (*Server).getGraph, false},
	{"GET", "/api/v1/definitions/{definition}/diff", "diffDefinition", readers, []string{"from", "to"}, (*Server).diffDefinition, false},
	{"GET", "/api/v1/definitions/{definition}/heat", "getHeat", readers, []string{"version", "digest"}, (*Server).getHeat, false},
	{"POST", "/api/v1/definitions/{definition}/instances", "startInstance", starters, []string{"version", "wait"}, (*Server).startInstance, false},

	{"GET", "/api/v1/instances", "listInstances", readers, []string{"q", "limit", "after", "order"}, (*Server).listInstances, false},
	{"GET", "/api/v1/instances/count", "countInstances", readers, []string{"q"}, (*Server).countInstances, false},
	{"POST", "/api/v1/instances/bulk", "controlInstances", operators, nil, (*Server).controlInstances, false},
	{"GET", "/api/v1/instances/{instance}", "getInstance", readers, []string{"wait"}, (*Server).getInstance, false},
	{"DELETE", "/api/v1/instances/{instance}", "deleteInstance", operators, nil, (*Server).deleteInstance, false},
	{"GET", "/api/v1/instances/{instance}/history", "getHistory", readers, []string{"limit", "after", "order"}, (*Server).getHistory, false},
	{"GET", "/api/v1/instances/{instance}/why", "getWhy", readers, nil, (*Server).getWhy, false},
	{"GET", "/api/v1/instances/{instance}/output", "getOutput", readers, nil, (*Server).getOutput, false},
	{"POST", "/api/v1/instances/{instance}/retry", "retryInstance", operators, nil, (*Server).retryInstance, false},
	{"POST", "/api/v1/instances/{instance}/skip", "skipInstance", operators, nil, (*Server).skipInstance, false},
	{"POST", "/api/v1/instances/{instance}/pause", "pauseInstance", operators, nil, (*Server).pauseInstance, false},
	{"POST", "/api/v1/instances/{instance}/resume", "resumeInstance", operators, nil, (*Server).resumeInstance, false},
	{"POST", "/api/v1/instances/{instance}/cancel", "cancelInstance", operators, nil, (*Server).cancelInstance, false},
	{"POST", "/api/v1/instances/{instance}/terminate", "terminateInstance", operators, nil, (*Server).terminateInstance, false},
	{"POST", "/api/v1/instances/{instance}/restart", "restartInstance", operators, nil, (*Server).restartInstance, false},
	{"POST", "/api/v1/instances/{instance}/calls/{ticket}", "answerCall", operators, nil, (*Server).answerCall, false},
	{"GET", "/api/v1/calls", "listCalls", readers, []string{"instance", "parked", "limit", "after"}, (*Server).listCalls, false},

	{"POST", "/api/v1/jobs", "createJobs", starters, nil, (*Server).createJobs, false},

	{"POST", "/api/v1/events", "sendEvents", producers, nil, (*Server).sendEvents, false},
	{"GET", "/api/v1/events", "listEvents", readers, []string{"unmatched", "type", "limit", "after"}, (*Server).listEvents, false},
	{"GET", "/api/v1/stream", "stream", readers, []string{"instance", "definition", "q", "last-event-id"}, (*Server).stream, true},
	{"GET", "/api/v1/stats", "getStats", readers, nil, (*Server).getStats, false},
	{"GET", "/api/v1/nodes", "listNodes", readers, nil, (*Server).listNodes, false},
	{"GET", "/api/v1/failures", "listFailures", readers, nil, (*Server).listFailures, false},
	{"POST", "/api/v1/playground", "playground", starters, nil, (*Server).playground, false},

	{"GET", "/api/v1/session", "getSession", nil, nil, (*Server).getSession, true},
	{"POST", "/api/v1/session", "openSession", nil, nil, (*Server).openSession, false},
	{"DELETE", "/api/v1/session", "closeSession", nil, nil, (*Server).closeSession, true},
	{"GET", "/schemas/{schema}", "getSchema", nil, nil, (*Server).getSchema, false},

	{"GET", "/healthz", "healthz", nil, nil, (*Server).healthz, true},
	{"GET", "/readyz", "readyz", nil, nil, (*Server).readyz, true},
	{"GET", "/metrics", "metrics", readers, nil, (*Server).writeMetrics, true},
	{"GET", "/openapi.json", "openapiJSON", nil, nil, (*Server).openapiJSON, false},
	{"GET", "/openapi.yaml", "openapiYAML", nil, nil, (*Server).openapiYAML, false},
	{"GET", "/problems/{code}", "getProblem", nil, nil, (*Server).getProblem, false},
}
