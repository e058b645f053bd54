package sw10

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// The built-in calls.
const (
	callHTTP     = "http"
	callOpenAPI  = "openapi"
	callGRPC     = "grpc"
	callAsyncAPI = "asyncapi"
	callA2A      = "a2a"
	callMCP      = "mcp"
)

var builtinCalls = []string{callHTTP, callOpenAPI, callGRPC, callAsyncAPI, callA2A, callMCP}

// arguments are those of a built-in call, one struct per kind.
type arguments interface{ authentication() *use[authentication] }

type (
	httpCall struct {
		method         *expression
		endpoint       *endpoint
		headers, query *expression // an object, or one expression
		body           *expression
		output         string
		redirect       bool
	}
	openapiCall struct {
		document   *resource
		operation  *expression
		parameters *expression
		auth       use[authentication]
		output     string
		redirect   bool
	}
	grpcCall struct {
		proto        *resource
		service      *expression
		host, method *expression
		port         int64 // 0: not given
		auth         use[authentication]
		arguments    *expression
	}
	asyncapiCall struct {
		document           *resource
		channel, operation *expression
		server, protocol   *expression
		message            *expression // payload and headers
		subscription       *subscription
		auth               use[authentication]
	}
	a2aCall struct {
		method     string
		agentCard  *resource
		server     *endpoint
		parameters *expression
	}
	mcpCall struct {
		protocol   *expression
		method     string
		parameters *expression
		timeout    *duration
		http       *endpoint   // one of http and stdio
		headers    *expression // of http
		stdio      *expression // command, arguments and environment
		command    *expression // of stdio
		options    *expression
		client     *expression
	}
)

// What a call over HTTP gives.
const (
	outputContent  = "content"
	outputRaw      = "raw"
	outputResponse = "response"
)

// subscription is what an AsyncAPI call consumes: amount messages, or while or until something
// holds, and for at most a time. filter, while and until see a message.
type subscription struct {
	node                 *dialect.Node
	filter, while, until *expression
	amount               int64 // 0: not given
	period               *duration
	foreach              *iterator
}

// customCall is a call of a function that is not built in: one of this definition, of a catalogue or at
// an address, or else what the server has under the name.
type customCall struct {
	function      *function // decided by check; nil: the server's
	fetched       bool      // the function is of a catalogue, or at an address
	catalogued    bool      // NAME:VERSION@CATALOG
	name, version string
	catalog       string   // a name of use.catalogs, or defaultCatalog
	def           *catalog // decided by check; nil for defaultCatalog
	address       string   // of a function.yaml
}

// defaultCatalog is the catalogue of the server.
const defaultCatalog = "default"

// process is what a run task runs: one struct per kind.
type process interface{ processName() string }

// The kinds of processes.
const (
	runContainer = "container"
	runScript    = "script"
	runShell     = "shell"
	runWorkflow  = "workflow"
)

// returnStdout is what a process returns unless the task says otherwise.
const returnStdout = "stdout"

type (
	containerRun struct {
		image, name, command *expression
		ports, volumes       *expression
		environment, stdin   *expression
		arguments            *expression // a list
		cleanup              string
		after                *duration // with cleanup eventually
		pullPolicy           string
	}
	scriptRun struct {
		language           *expression
		code               *expression // or source
		source             *resource
		environment, stdin *expression
		arguments          *expression // a list; before 1.0.3 an object
	}
	shellRun struct {
		command            *expression
		environment, stdin *expression
		arguments          *expression // a list; before 1.0.3 an object
	}
	workflowRun struct {
		namespace, name *dialect.Node
		version         *dialect.Node // nil: the latest
		input           *expression
	}
)

// latestVersion is the highest version of a workflow.
const latestVersion = "latest"

func (*containerRun) processName() string { return runContainer }
func (*scriptRun) processName() string    { return runScript }
func (*shellRun) processName() string     { return runShell }
func (*workflowRun) processName() string  { return runWorkflow }

func (c *httpCall) authentication() *use[authentication]     { return c.endpoint.authentication() }
func (c *openapiCall) authentication() *use[authentication]  { return &c.auth }
func (c *grpcCall) authentication() *use[authentication]     { return &c.auth }
func (c *asyncapiCall) authentication() *use[authentication] { return &c.auth }
func (c *a2aCall) authentication() *use[authentication]      { return c.server.authentication() }
func (c *mcpCall) authentication() *use[authentication]      { return c.http.authentication() }

func (e *endpoint) authentication() *use[authentication] {
	if e == nil {
		return nil
	}
	return &e.auth
}
