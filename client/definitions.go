package client

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"path"

	"github.com/lockstep-workflows/lockstep/api"
)

// Deploy says how to deploy a document.
type Deploy struct {
	JSON    bool   // it is JSON, not YAML
	Dialect string // empty: it is detected
	DryRun  bool   // check only

	AllowUnreachable bool // let documents on the network pass that cannot be fetched now
	AllowMismatch    bool // let calls pass that do not fit the functions of the server's catalogue
}

func (o Deploy) add(r request) request {
	return r.with("dialect", o.Dialect).with("dry-run", flag(o.DryRun)).
		with("allow-unreachable", flag(o.AllowUnreachable)).with("allow-mismatch", flag(o.AllowMismatch))
}

// DeployDefinition deploys a document, which becomes the current version. created reports whether
// the content is new under its id and version.
func (c *Client) DeployDefinition(ctx context.Context, document []byte, o Deploy) (d api.Definition, created bool, err error) {
	media := "application/yaml"
	if o.JSON {
		media = "application/json"
	}
	r := request{method: http.MethodPost, path: "/api/v1/definitions", body: document, repeatable: true}
	r = o.add(r.withHeader("Content-Type", media))
	d, status, err := callStatus[api.Definition](ctx, c, r)
	return d, status == http.StatusCreated, err
}

// BundleFile is a file of a bundle.
type BundleFile struct {
	Path       string // relative to the folder, with slashes
	Text       []byte
	Definition bool // it is a definition, and not a file that definitions refer to
}

// DeployBundle deploys definitions together with the files that they refer to: all of them or none. If no file is
// marked as a definition, the server finds the definitions by their content.
func (c *Client) DeployBundle(ctx context.Context, files []BundleFile, o Deploy) (api.Bundle, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range files {
		if f.Definition {
			if err := form.WriteField("definition", f.Path); err != nil {
				return api.Bundle{}, err
			}
		}
		part, err := form.CreateFormFile(f.Path, path.Base(f.Path))
		if err != nil {
			return api.Bundle{}, err
		}
		if _, err := part.Write(f.Text); err != nil {
			return api.Bundle{}, err
		}
	}
	if err := form.Close(); err != nil {
		return api.Bundle{}, err
	}
	r := request{method: http.MethodPost, path: "/api/v1/bundles", body: body.Bytes(), repeatable: true}
	return call[api.Bundle](ctx, c, o.add(r.withHeader("Content-Type", form.FormDataContentType())))
}

// DefinitionQuery selects definitions.
type DefinitionQuery struct {
	Paging
	AllVersions bool // not only the current one of each
}

// ListDefinitions lists definitions by id.
func (c *Client) ListDefinitions(ctx context.Context, q DefinitionQuery) (api.Page[api.Definition], error) {
	r := q.add(get("/api/v1/definitions"))
	if q.AllVersions {
		r = r.with("versions", "all")
	}
	return call[api.Page[api.Definition]](ctx, c, r)
}

// Version names the content of a definition: a version, or a digest, or the current one.
type Version struct{ Version, Digest string }

func (v Version) add(r request) request {
	return r.with("version", v.Version).with("digest", v.Digest)
}

// GetDefinition reads a definition.
func (c *Client) GetDefinition(ctx context.Context, id string, v Version) (api.Definition, error) {
	return call[api.Definition](ctx, c, v.add(get(pathOf("api", "v1", "definitions", id))))
}

// DeleteDefinition deletes a version of a definition; "" deletes all of them.
func (c *Client) DeleteDefinition(ctx context.Context, id, version string) error {
	r := request{method: http.MethodDelete, path: pathOf("api", "v1", "definitions", id), repeatable: true}
	_, _, err := c.text(ctx, r.with("version", version))
	return err
}

// ListVersions lists the versions of a definition in order of deployment.
func (c *Client) ListVersions(ctx context.Context, id string) (api.Page[api.Definition], error) {
	return call[api.Page[api.Definition]](ctx, c, get(pathOf("api", "v1", "definitions", id, "versions")))
}

// GetSource reads the document as it was deployed.
func (c *Client) GetSource(ctx context.Context, id string, v Version) ([]byte, error) {
	text, _, err := c.text(ctx, v.add(get(pathOf("api", "v1", "definitions", id, "source"))))
	return text, err
}

// ListFiles lists the files that a definition uses, with the document itself.
func (c *Client) ListFiles(ctx context.Context, id string, v Version) (api.Page[api.DefinitionFile], error) {
	return call[api.Page[api.DefinitionFile]](ctx, c, v.add(get(pathOf("api", "v1", "definitions", id, "files"))))
}

// GetFile reads a file that a definition uses, by its path in ListFiles.
func (c *Client) GetFile(ctx context.Context, id string, v Version, file string) ([]byte, error) {
	text, _, err := c.text(ctx, v.add(get(pathOf("api", "v1", "definitions", id, "source"))).with("file", file))
	return text, err
}

// GetGraph draws a definition: svg, mermaid, dot, plantuml, smcat or text.
func (c *Client) GetGraph(ctx context.Context, id string, v Version, format string) ([]byte, error) {
	text, _, err := c.text(ctx, v.add(get(pathOf("api", "v1", "definitions", id, "graph.svg"))).with("format", format))
	return text, err
}

// DiffDefinition compares two versions; to may be "", the current one.
func (c *Client) DiffDefinition(ctx context.Context, id, from, to string) (string, error) {
	if from == "" {
		return "", errors.New("a version to compare with is required")
	}
	text, _, err := c.text(ctx, get(pathOf("api", "v1", "definitions", id, "diff")).with("from", from).with("to", to))
	return string(text), err
}

// ListFunctions lists what a definition calls, and whether the server can.
func (c *Client) ListFunctions(ctx context.Context, id string, v Version) (api.Page[api.Function], error) {
	return call[api.Page[api.Function]](ctx, c, v.add(get(pathOf("api", "v1", "definitions", id, "functions"))))
}

// GetHeat counts where the instances of a definition are.
func (c *Client) GetHeat(ctx context.Context, id string, v Version) (api.Heat, error) {
	return call[api.Heat](ctx, c, v.add(get(pathOf("api", "v1", "definitions", id, "heat"))))
}
