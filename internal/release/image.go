package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// Types of the OCI image specification, as far as they are needed here.
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
)

const nobody = 65534 // the user and group of containers

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// image writes an image for linux/amd64 and linux/arm64 as a tar of an OCI layout, which "docker load", "podman load"
// and "skopeo copy oci-archive:…" read. It contains the program, which brings time zones and root certificates of
// its own, and an empty folder for data. It runs as nobody.
func (r *release) image(work string) error {
	layout := []file{{name: "oci-layout", text: []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	blob := func(mediaType string, content []byte) descriptor {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		layout = append(layout, file{name: "blobs/sha256/" + sum, text: content})
		return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
	}
	index := manifest{SchemaVersion: 2, MediaType: typeIndex}
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		d, err := r.imageOf(p, work, blob)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
	}
	all := blob(typeIndex, encode(index))
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.number()}
	layout = append(layout, file{name: "index.json", text: encode(manifest{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{all}})})
	var b bytes.Buffer
	if err := writeTar(&b, layout, r.when); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("lockstep_%s_image.tar", r.number()), b.Bytes())
}

// imageOf adds the image of one platform.
func (r *release) imageOf(p platform, work string, blob func(string, []byte) descriptor) (descriptor, error) {
	files := []file{
		{name: "lockstep", path: filepath.Join(work, p.os+"_"+p.arch, p.program()), mode: 0o755},
		{name: "etc/passwd", text: []byte("nobody:x:65534:65534:nobody:/data:/sbin/nologin\n")},
		{name: "data", folder: true, owner: nobody},
		{name: "tmp", folder: true, mode: 0o1777},
	}
	var plain bytes.Buffer
	if err := writeTar(&plain, files, r.when); err != nil {
		return descriptor{}, err
	}
	layer, err := zipped(plain.Bytes())
	if err != nil {
		return descriptor{}, err
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
	m := blob(typeManifest, encode(manifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: &config, Layers: []descriptor{blob(typeLayer, layer)},
	}))
	m.Platform = &imagePlatform{p.arch, p.os}
	return m, nil
}

// encode writes a value of this file as JSON: they have no parts that could fail.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
