package server

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// testFiles are the files of a bundle, by path.
type testFiles map[string]string

// with is the files with others.
func (f testFiles) with(more testFiles) testFiles {
	out := maps.Clone(f)
	maps.Copy(out, more)
	return out
}

// bundle deploys a bundle. Fields are definitions that are named.
func (w *world) bundle(files testFiles, params string, definitions ...string) answered {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, name := range definitions {
		if err := form.WriteField("definition", name); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		part, err := form.CreateFormFile(name, "file")
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := part.Write([]byte(files[name])); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		w.t.Fatal(err)
	}
	return w.do("POST", "/api/v1/bundles"+params, body.String(), "Content-Type", form.FormDataContentType())
}

const shopAPI = "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: 'https://shop.example.com'}]\npaths: {/r: {post: {operationId: reserve, responses: {'200': {description: ok}}}}}\n"

// ordering is a definition that refers to an OpenAPI file, a schema and a sub-workflow.
func ordering(version string) string {
	return `id: order
version: "` + version + `"
name: Order
dataInputSchema: schemas/order.json
functions: [{name: reserve, operation: "apis/shop.yaml#reserve"}]
states:
- {name: Reserve, type: operation, start: {kind: default}, actions: [{functionRef: {refName: reserve}}], transition: {nextState: Ship}}
- {name: Ship, type: subflow, waitForCompletion: true, workflowId: greet, end: {kind: default}}
`
}

func shop(version string) testFiles {
	return testFiles{
		"flows/order.yaml": ordering(version), "flows/apis/shop.yaml": shopAPI, "flows/schemas/order.json": `{"type":"object"}`,
		"greet.yaml": greeting("1.0", "hi"), "flows/order_test.yaml": "workflow: order.yaml\n", "README.md": "read me",
	}
}

func TestDeployBundle(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.bundle(shop("1.0"), "?dry-run=true").want(200).says(`+++ order@1.0/flows/order.yaml`).says(`+++ greet@1.0/greet.yaml`)
		w.get("/api/v1/definitions/order").problem(api.CodeNotFound)
		a := w.bundle(shop("1.0"), "").want(200).
			is("definitions.0.definition.id", `"order"`).is("definitions.0.change", `"created"`).is("definitions.0.definition.path", `"flows/order.yaml"`).
			is("definitions.0.definition.diagnostics", "[]"). // the sub-workflow is in the bundle
			is("definitions.1.definition.id", `"greet"`).is("definitions.1.change", `"created"`).
			is("unused", `["README.md","flows/order_test.yaml"]`).is("diff", "null")
		w.get("/api/v1/definitions/order").want(200).is("bundle", `"`+a.str("digest")+`"`)
		w.bundle(shop("1.0"), "").want(200).is("definitions.0.change", `"unchanged"`).is("digest", `"`+a.str("digest")+`"`)

		// A file that changes is a change of the definition, and of the bundle.
		changed := shop("1.0").with(testFiles{"flows/apis/shop.yaml": shopAPI + "# changed\n"})
		w.bundle(changed, "").problem(api.CodeVersion).is("errors.0.file", `"flows/order.yaml"`)
		changed["flows/order.yaml"] = ordering("1.1")
		w.bundle(changed, "?dry-run=true").want(200).is("definitions.0.change", `"new-version"`).is("definitions.1.change", `"unchanged"`).
			says(`+# changed`).says(`--- order@1.0/flows/apis/shop.yaml`)
		b := w.bundle(changed, "").want(200).is("definitions.0.change", `"new-version"`)
		if a.str("digest") == b.str("digest") {
			t.Error("another bundle has the same digest")
		}
		w.get("/api/v1/definitions/order/diff?from=1.0").want(200).says("+# changed").says(`+version: "1.1"`)
		w.bundle(shop("1.0"), "").want(200).is("definitions.0.change", `"restored"`).is("digest", `"`+a.str("digest")+`"`)

		w.get("/api/v1/definitions/order/files").want(200).is("items.0.path", `"flows/apis/shop.yaml"`).
			is("items.1.path", `"flows/order.yaml"`).is("items.1.document", "true").is("items.2.path", `"flows/schemas/order.json"`)
		if got := w.get("/api/v1/definitions/order/source?file=flows/apis/shop.yaml").want(200).text; got != shopAPI {
			t.Errorf("the file is %q", got)
		}
		w.get("/api/v1/definitions/order/source?file=README.md").problem(api.CodeNotFound)
	})
}

// TestBundleAllOrNothing: nothing of a bundle is deployed if one definition cannot be.
func TestBundleAllOrNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(greeting("1.0", "one"), "").want(201)
		other := strings.ReplaceAll(greeting("1.0", "x"), "greet", "other")
		w.bundle(testFiles{"a.yaml": other, "b.yaml": greeting("1.0", "two")}, "").problem(api.CodeVersion)
		w.bundle(testFiles{"a.yaml": other, "b.yaml": "id: broken\nstates: []\n"}, "").problem(api.CodeInvalid).is("errors.0.file", `"b.yaml"`)
		w.bundle(testFiles{"a.yaml": other, "b.yaml": other}, "").problem(api.CodeInvalid).says("BND001")
		missing := shop("1.0")
		delete(missing, "flows/schemas/order.json")
		w.bundle(missing, "").problem(api.CodeInvalid).is("errors.0.file", `"flows/order.yaml"`).is("errors.0.line", "4")
		w.get("/api/v1/definitions/other").problem(api.CodeNotFound)
		w.get("/api/v1/definitions/greet").want(200).is("version", `"1.0"`)
		// All conflicts are told at once.
		w.bundle(testFiles{"a.yaml": other, "b.yaml": greeting("1.0", "one")}, "").want(200)
		w.bundle(testFiles{"a.yaml": other + "# x", "b.yaml": greeting("1.0", "two")}, "").problem(api.CodeVersion).
			is("errors.0.file", `"a.yaml"`).is("errors.1.file", `"b.yaml"`).says("other@1.0, greet@1.0")
	})
}

// TestBundleFilesStayInTheirFolder: a definition reaches what is in its folder and below it, and nothing else.
func TestBundleFilesStayInTheirFolder(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	for _, ref := range []string{"../shared.json", "/shared.json", "file:///etc/passwd", "x/../../shared.json", "%2e%2e/shared.json"} {
		text := strings.Replace(ordering("1.0"), "schemas/order.json", `"`+ref+`"`, 1)
		w.bundle(shop("1.0").with(testFiles{"flows/order.yaml": text, "shared.json": "{}"}), "").problem(api.CodeInvalid).is("errors.0.line", "4")
	}
	for _, name := range []string{"../a.yaml", "/a.yaml", "a/../b.yaml", "a//b.yaml", ".", "", `a\b.yaml`, "a\x01.yaml", strings.Repeat("a/", 300) + "b"} {
		if a := w.bundle(testFiles{name: greeting("1.0", "x")}, ""); a.status != 422 && a.status != 413 {
			t.Errorf("%q: %d %s", name, a.status, a.text)
		}
	}
	w.bundle(testFiles{"größe/ä b.yaml": greeting("1.0", "x")}, "").want(200).is("definitions.0.definition.path", `"größe/ä b.yaml"`)
}

func TestBundleDefinitionsThatAreNamed(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	files := testFiles{"a.txt": greeting("1.0", "x"), "b.yaml": strings.ReplaceAll(greeting("1.0", "x"), "greet", "other")}
	w.bundle(files, "", "a.txt").want(200).is("definitions.0.definition.id", `"greet"`).is("definitions.1", "null").is("unused", `["b.yaml"]`)
	w.bundle(files, "", "c.yaml").problem(api.CodeInvalid).says("c.yaml")
	w.bundle(files, "", "a.txt", "a.txt").problem(api.CodeInvalid).says("twice")
	w.bundle(testFiles{"a.yaml": greeting("1.0", "x"), "x": "1", "x/y/z": "2"}, "").problem(api.CodeInvalid).says("the folder of")
	w.bundle(testFiles{"README.md": "x"}, "").problem(api.CodeInvalid).says("no definition")
	w.bundle(testFiles{".git/a.yaml": greeting("1.0", "x"), "a_test.yaml": "x: 1"}, "").problem(api.CodeInvalid).says("no definition")
	w.bundle(testFiles{"a.json": "{}"}, "", "a.json").problem(api.CodeInvalid).says("DIA001")
}

func TestBundleLimits(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.Bundle, c.Limits.Programs = 6<<20, 1<<20 })
	files := testFiles{"greet.yaml": greeting("1.0", "x")}
	for i := range MaxBundleFiles {
		files[fmt.Sprintf("f%d", i)] = ""
	}
	w.bundle(files, "").problem(api.CodeTooLarge).is("limit", `"bundle-files"`)
	w.bundle(testFiles{"greet.yaml": greeting("1.0", "x"), "large": strings.Repeat("x", 7<<20)}, "").problem(api.CodeTooLarge).is("limit", `"bundle-bytes"`)
	w.bundle(testFiles{"greet.yaml": greeting("1.0", "x"), "large": strings.Repeat("x", 5<<20)}, "").problem(api.CodeTooLarge).is("limit", `"document-bytes"`)
	many := testFiles{}
	for i := range MaxBundleDefinitions + 1 {
		many[fmt.Sprintf("d%d.yaml", i)] = strings.ReplaceAll(greeting("1.0", "x"), "greet", fmt.Sprintf("d%d", i))
	}
	w.bundle(many, "").problem(api.CodeTooLarge).is("limit", `"bundle-definitions"`)

	// Each definition stores the documents that it uses: many that use a large one are too much together.
	large := testFiles{"api.yaml": shopAPI + "# " + strings.Repeat("x", 60<<10)}
	for i := range 20 {
		text := strings.ReplaceAll(ordering("1.0"), "id: order", fmt.Sprintf("id: d%d", i))
		text = strings.NewReplacer("apis/shop.yaml", "api.yaml", "dataInputSchema: schemas/order.json\n", "").Replace(text)
		large[fmt.Sprintf("d%d.yaml", i)] = text
	}
	w.bundle(large, "").problem(api.CodeTooLarge).is("limit", `"bundle-programs"`)
	w.get("/api/v1/definitions").want(200).is("items", "[]")
}

// TestTooLongBodyIsAnswered: a client that reads nothing before it has sent its whole body gets the response,
// not a connection that was reset.
func TestTooLongBodyIsAnswered(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.Bundle = 64 << 10 })
	connection, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	const size = 24 << 20
	_, err = fmt.Fprintf(connection, "POST /api/v1/bundles HTTP/1.1\r\nHost: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n", connection.RemoteAddr(), size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close {
		t.Errorf("status %d, close %t", response.StatusCode, response.Close)
	}
}

// TestBundleBodies: what is not a form is refused, whatever it is.
func TestBundleBodies(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	send := func(body, media string) answered { return w.do("POST", "/api/v1/bundles", body, "Content-Type", media) }
	send("x", "application/zip").problem(api.CodeMediaType)
	send("x", "multipart/form-data").problem(api.CodeInvalid)
	send("x", "multipart/form-data; boundary=b").problem(api.CodeInvalid)
	send("--b\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b").problem(api.CodeInvalid)
	send("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b").problem(api.CodeInvalid).says("not known")
	send("--b\r\nContent-Disposition: form-data; name=\"a.yaml\"; filename=\"a\"\r\n\r\nx", "multipart/form-data; boundary=b").problem(api.CodeInvalid) // torn
	twice := "--b\r\nContent-Disposition: form-data; name=\"a.yaml\"; filename=\"a\"\r\n\r\nx\r\n"
	send(twice+twice+"--b--\r\n", "multipart/form-data; boundary=b").problem(api.CodeInvalid).says("twice")
}

// TestMissingSubWorkflowIsAWarning: it may be deployed later, so the warning is told and not stored.
func TestMissingSubWorkflowIsAWarning(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	alone := shop("1.0")
	delete(alone, "greet.yaml")
	w.bundle(alone, "").want(200).is("definitions.0.definition.diagnostics.0.code", `"BND002"`).is("definitions.0.definition.diagnostics.0.severity", `"warning"`)
	w.get("/api/v1/definitions/order").want(200).is("diagnostics", "[]")
	w.put(greeting("1.0", "x"), "").want(201)
	w.bundle(alone, "").want(200).is("definitions.0.definition.diagnostics", "[]")
}

// TestUnreachableDocument: it is an error at deploy, unless it may be missing.
func TestUnreachableDocument(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	text := strings.Replace(ordering("1.0"), "apis/shop.yaml", "https://shop.invalid/api.yaml", 1)
	files := shop("1.0").with(testFiles{"flows/order.yaml": text})
	w.bundle(files, "").problem(api.CodeInvalid).says("OA001").says("allow-unreachable")
	w.bundle(files, "?allow-unreachable=true").want(200).is("definitions.0.definition.diagnostics.0.code", `"OA001"`)
	w.bundle(files, "?allow-unreachable=x").problem(api.CodeBadParameter)
	alone := strings.Replace(text, "dataInputSchema: schemas/order.json\n", "", 1)
	w.put(strings.Replace(alone, "id: order", "id: alone", 1), "").problem(api.CodeInvalid).says("OA001")
	w.put(strings.Replace(alone, "id: order", "id: alone", 1), "?allow-unreachable=true").want(201)
	w.put(strings.Replace(ordering("1.0"), "dataInputSchema: schemas/order.json\n", "", 1), "?allow-unreachable=true").problem(api.CodeInvalid).says("/api/v1/bundles")
}

// FuzzReadUpload: whatever a body is, reading it gives files with safe paths, or a problem.
func FuzzReadUpload(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"a/b.yaml\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"), "b")
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"definition\"\r\n\r\nx\r\n--b--\r\n"), "b")
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"../a\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"), "b")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		u, err := readUpload(body, boundary)
		if err != nil {
			return
		}
		for name := range u.files {
			if checkBundlePath(name) != nil || strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..") {
				t.Errorf("%q", name)
			}
		}
	})
}

// TestInputSchema: a definition that is read has the schema of its input, with what it refers to; a list leaves it out.
func TestInputSchema(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.bundle(shop("1.0").with(testFiles{"flows/schemas/order.json": `{"type": "object", "required": ["sku"]}`}), "").want(200)
	w.get("/api/v1/definitions/order").want(200).is("inputSchema.required.0", `"sku"`)
	w.get("/api/v1/definitions/greet").want(200).is("inputSchema", "null")
	w.get("/api/v1/definitions").want(200).is("items.1.id", `"order"`).is("items.1.inputSchema", "null")
	large := `{"type": "object", "description": "` + strings.Repeat("x", maxInputSchema) + `"}`
	w.bundle(shop("1.1").with(testFiles{"flows/schemas/order.json": large}), "").want(200)
	w.get("/api/v1/definitions/order").want(200).is("version", `"1.1"`).is("inputSchema", "null")
}
