package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Types of the OCI image specification, and the manifest.json of Docker, as far as they are needed here.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *imagePlatform    `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	imagePlatform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        *descriptor  `json:"config,omitempty"`
		Layers        []descriptor `json:"layers,omitempty"`
		Manifests     []descriptor `json:"manifests,omitempty"`
	}
	imageConfig struct {
		Created      string      `json:"created"`
		Architecture string      `json:"architecture"`
		OS           string      `json:"os"`
		Config       imageRun    `json:"config"`
		RootFS       imageRootFS `json:"rootfs"`
	}
	imageRun struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
	}
	imageRootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	dockerImage struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
)

const nobody = 65534 // the user and group of containers

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"

	annotationTag  = "org.opencontainers.image.ref.name"
	annotationName = "io.containerd.image.name"
)

// image writes the image of a platform as a tar that "docker load", "podman load" and "skopeo copy oci-archive:…" read.
// It contains the program, which brings time zones and root certificates of its own, and an empty folder for data. It
// runs as nobody.
//
// The tar is an OCI layout, which Docker reads if it keeps images in containerd, and has the manifest.json that it reads
// otherwise. The latter cannot choose between platforms: so there is one tar for each.
func (r *release) image(p platform, program string) error {
	layout := []file{{name: "oci-layout", text: []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	blob := func(mediaType string, content []byte) descriptor {
		d := descriptor{MediaType: mediaType, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(content)), Size: len(content)}
		layout = append(layout, file{name: d.path(), text: content})
		return d
	}
	files := []file{
		{name: "lockstep", path: program, mode: 0o755},
		{name: "etc/passwd", text: []byte("nobody:x:65534:65534:nobody:/data:/sbin/nologin\n")},
		{name: "data", folder: true, owner: nobody},
		{name: "tmp", folder: true, mode: 0o1777},
	}
	var plain bytes.Buffer
	if err := writeTar(&plain, files, r.when); err != nil {
		return err
	}
	packed, err := zipped(plain.Bytes())
	if err != nil {
		return err
	}
	config := blob(typeConfig, encode(imageConfig{
		Created: r.when.Format(time.RFC3339), Architecture: p.arch, OS: p.os,
		Config: imageRun{
			User: fmt.Sprintf("%d:%d", nobody, nobody), ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
			Env: []string{"PATH=/"}, Entrypoint: []string{"/lockstep"}, Cmd: []string{"serve"}, WorkingDir: "/data",
			Labels: map[string]string{
				"org.opencontainers.image.title":    "lockstep",
				"org.opencontainers.image.version":  r.number(),
				"org.opencontainers.image.revision": r.revision,
				"org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.source":   "https://github.com/lockstep-workflows/lockstep",
			},
		},
		RootFS: imageRootFS{Type: "layers", DiffIDs: []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes()))}},
	}))
	layer := blob(typeLayer, packed)
	image := blob(typeManifest, encode(manifest{SchemaVersion: 2, MediaType: typeManifest, Config: &config, Layers: []descriptor{layer}}))
	image.Platform = &imagePlatform{p.arch, p.os}
	image.Annotations = map[string]string{
		annotationTag: r.number(), annotationName: "docker.io/library/" + r.imageName(), // containerd wants names in full
	}
	layout = append(layout,
		file{name: "index.json", text: encode(manifest{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{image}})},
		file{name: "manifest.json", text: encode([]dockerImage{{Config: config.path(), RepoTags: []string{r.imageName()}, Layers: []string{layer.path()}}})})
	var b bytes.Buffer
	if err := writeTar(&b, layout, r.when); err != nil {
		return err
	}
	return r.write(r.imageFile(p), b.Bytes())
}

// imageName is what an image is called once it is loaded.
func (r *release) imageName() string { return "lockstep:" + r.number() }

func (r *release) imageFile(p platform) string {
	return fmt.Sprintf("lockstep_%s_%s_image.tar", r.number(), p.arch)
}

// path is where a layout has the content.
func (d descriptor) path() string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }

// encode writes a value of this file as JSON: they have no parts that could fail.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
