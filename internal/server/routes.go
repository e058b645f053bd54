package server

import (
	"net/http"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// route is one operation of the contract.
type route struct {
	method, path string
	operation    string // its operationId
	roles        []Role // allowed roles; nil: everyone, without a token
	params       []string
	handle       func(*Server, http.ResponseWriter, *request) error
	cost         cost
}

// The roles of the routes. The contract has the same; a test compares them.
var (
	readers   = []Role{Viewer, Operator, Author, Admin}
	operators = []Role{Operator, Admin}
	authors   = []Role{Author, Admin}
	starters  = []Role{Operator, Author, Admin}
	admins    = []Role{Admin}
	producers = []Role{EventProducer, Operator, Admin}
)

// routes is everything that is served.
var routes = []route{
	{"POST", "/api/v1/definitions", "deployDefinition", authors, []string{"dialect", "dry-run", "allow-unreachable", "allow-mismatch"}, (*Server).deployDefinition, normal},
	{"POST", "/api/v1/bundles", "deployBundle", authors, []string{"dialect", "dry-run", "allow-unreachable", "allow-mismatch"}, (*Server).deployBundle, normal},
	{"GET", "/api/v1/definitions", "listDefinitions", readers, []string{"limit", "after", "versions"}, (*Server).listDefinitions, heavy},
	{"GET", "/api/v1/definitions/{definition}", "getDefinition", readers, []string{"version", "digest"}, (*Server).getDefinition, light},
	{"DELETE", "/api/v1/definitions/{definition}", "deleteDefinition", authors, []string{"version"}, (*Server).deleteDefinition, light},
	{"GET", "/api/v1/definitions/{definition}/versions", "listVersions", readers, nil, (*Server).listVersions, heavy},
	{"GET", "/api/v1/definitions/{definition}/source", "getSource", readers, []string{"version", "digest", "file"}, (*Server).getSource, light},
	{"GET", "/api/v1/definitions/{definition}/files", "listFiles", readers, []string{"version", "digest"}, (*Server).listFiles, heavy},
	{"GET", "/api/v1/definitions/{definition}/graph.svg", "getGraph", readers, []string{"version", "digest", "format"}, (*Server).getGraph, heavy},
	{"GET", "/api/v1/definitions/{definition}/diff", "diffDefinition", readers, []string{"from", "to"}, (*Server).diffDefinition, heavy},
	{"GET", "/api/v1/definitions/{definition}/functions", "listFunctions", readers, []string{"version", "digest"}, (*Server).listFunctions, heavy},
	{"GET", "/api/v1/definitions/{definition}/heat", "getHeat", readers, []string{"version", "digest"}, (*Server).getHeat, heavy},
	{"POST", "/api/v1/definitions/{definition}/pause", "pauseDefinition", operators, nil, decide((*Server).pauseDefinition), light},
	{"POST", "/api/v1/definitions/{definition}/resume", "resumeDefinition", operators, nil, decide((*Server).resumeDefinition), light},
	{"POST", "/api/v1/definitions/{definition}/retire", "retireDefinition", starters, nil, decide((*Server).retireDefinition), light},
	{"POST", "/api/v1/definitions/{definition}/unretire", "unretireDefinition", starters, nil, decide((*Server).unretireDefinition), light},
	{"POST", "/api/v1/definitions/{definition}/instances", "startInstance", starters, []string{"version", "wait", "id", "name", "label"}, (*Server).startInstance, normal},
	{"POST", "/api/v1/definitions/{definition}/instances/bulk", "startInstances", starters, nil, (*Server).startInstances, normal},

	{"GET", "/api/v1/schedules", "listSchedules", readers, []string{"limit", "after"}, (*Server).listSchedules, heavy},
	{"GET", "/api/v1/schedules/{definition}", "getSchedule", readers, nil, (*Server).getSchedule, light},
	{"PATCH", "/api/v1/schedules/{definition}", "setSchedule", operators, nil, (*Server).setSchedule, light},
	{"POST", "/api/v1/schedules/{definition}/pause", "pauseSchedule", operators, nil, decide((*Server).pauseSchedule), light},
	{"POST", "/api/v1/schedules/{definition}/resume", "resumeSchedule", operators, nil, decide((*Server).resumeSchedule), light},
	{"POST", "/api/v1/schedules/{definition}/trigger", "triggerSchedule", operators, nil, decide((*Server).triggerSchedule), normal},
	{"POST", "/api/v1/schedules/{definition}/backfill", "backfillSchedule", operators, nil, (*Server).backfillSchedule, heavy},

	{"GET", "/api/v1/instances", "listInstances", readers, []string{"q", "fold", "limit", "after", "order"}, (*Server).listInstances, heavy},
	{"GET", "/api/v1/instances/count", "countInstances", readers, []string{"q"}, (*Server).countInstances, heavy},
	{"POST", "/api/v1/instances/bulk", "controlInstances", operators, nil, (*Server).controlInstances, light},
	{"GET", "/api/v1/instances/{instance}", "getInstance", readers, []string{"wait"}, (*Server).getInstance, light},
	{"DELETE", "/api/v1/instances/{instance}", "deleteInstance", operators, nil, (*Server).deleteInstance, light},
	{"GET", "/api/v1/instances/{instance}/history", "getHistory", readers, []string{"limit", "after", "order"}, (*Server).getHistory, heavy},
	{"GET", "/api/v1/instances/{instance}/why", "getWhy", readers, nil, (*Server).getWhy, heavy},
	{"GET", "/api/v1/instances/{instance}/items", "listItems", readers, []string{"state", "status", "limit", "after"}, (*Server).listItems, heavy},
	{"GET", "/api/v1/instances/{instance}/output", "getOutput", readers, nil, (*Server).getOutput, light},
	{"GET", "/api/v1/instances/{instance}/scenario", "getScenario", readers, nil, (*Server).getScenario, heavy},
	{"POST", "/api/v1/instances/{instance}/retry", "retryInstance", operators, nil, (*Server).retryInstance, light},
	{"POST", "/api/v1/instances/{instance}/skip", "skipInstance", operators, nil, (*Server).skipInstance, light},
	{"POST", "/api/v1/instances/{instance}/pause", "pauseInstance", operators, nil, intervene(core.VerbSuspend), light},
	{"POST", "/api/v1/instances/{instance}/resume", "resumeInstance", operators, nil, intervene(core.VerbResume), light},
	{"POST", "/api/v1/instances/{instance}/cancel", "cancelInstance", operators, nil, (*Server).cancelInstance, light},
	{"POST", "/api/v1/instances/{instance}/terminate", "terminateInstance", operators, nil, intervene(core.VerbTerminate), light},
	{"POST", "/api/v1/instances/{instance}/restart", "restartInstance", operators, nil, (*Server).restartInstance, normal},
	{"POST", "/api/v1/instances/{instance}/calls/{ticket}", "answerCall", operators, nil, (*Server).answerCall, normal},
	{"GET", "/api/v1/calls", "listCalls", readers, []string{"instance", "parked", "limit", "after"}, (*Server).listCalls, heavy},

	{"POST", "/api/v1/jobs", "createJobs", starters, nil, (*Server).createJobs, normal},

	{"POST", "/api/v1/events", "sendEvents", producers, nil, (*Server).sendEvents, normal},
	{"GET", "/api/v1/events", "listEvents", readers, []string{"near", "outside", "unmatched", "type", "limit", "after"}, (*Server).listEvents, heavy},
	{"GET", "/api/v1/stream", "stream", readers, []string{"instance", "definition", "q", "last-event-id"}, (*Server).stream, free},
	{"GET", "/api/v1/stats", "getStats", readers, nil, (*Server).getStats, light},
	{"GET", "/api/v1/stats/hours", "getHours", readers, []string{"hours", "definition"}, (*Server).getHours, light},
	{"GET", "/api/v1/nodes", "listNodes", readers, nil, (*Server).listNodes, light},
	{"GET", "/api/v1/failures", "listFailures", readers, nil, (*Server).listFailures, heavy},
	{"POST", "/api/v1/playground", "playground", starters, nil, (*Server).playground, normal},

	{"GET", "/api/v1/audit", "listAudit", admins, []string{"who", "operation", "target", "limit", "after"}, (*Server).listAudit, heavy},
	{"GET", "/api/v1/tokens", "listTokens", admins, nil, (*Server).listTokens, light},
	{"GET", "/api/v1/revocations", "listRevocations", admins, nil, (*Server).listRevocations, heavy},
	{"POST", "/api/v1/revocations", "revoke", admins, nil, (*Server).revoke, light},
	{"DELETE", "/api/v1/revocations/{revocation}", "restore", admins, []string{"reason"}, (*Server).restore, light},
	{"GET", "/api/v1/session", "getSession", nil, nil, (*Server).getSession, free},
	{"POST", "/api/v1/session", "openSession", nil, nil, (*Server).openSession, light},
	{"DELETE", "/api/v1/session", "closeSession", nil, nil, (*Server).closeSession, light},
	{"GET", "/schemas/{schema}", "getSchema", nil, nil, (*Server).getSchema, light},

	{"GET", "/healthz", "healthz", nil, nil, (*Server).healthz, free},
	{"GET", "/readyz", "readyz", nil, nil, (*Server).readyz, free},
	{"GET", "/metrics", "metrics", readers, nil, (*Server).writeMetrics, free},
	{"GET", "/openapi.json", "openapiJSON", nil, nil, (*Server).openapiJSON, light},
	{"GET", "/openapi.yaml", "openapiYAML", nil, nil, (*Server).openapiYAML, light},
	{"GET", "/problems/{code}", "getProblem", nil, nil, (*Server).getProblem, light},
}
