package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
)

// unpackImage writes the files of an image to root, and compares what can load it: the index that containerd follows
// and the manifest.json that Docker reads without containerd. Every digest is checked.
func (r *release) unpackImage(p platform, root string) (imageConfig, error) {
	layout, config := root+".layout", imageConfig{}
	if err := os.Mkdir(layout, 0o755); err != nil {
		return config, err
	}
	if err := run(exec.Command("tar", "-xf", filepath.Join(r.out, r.imageFile(p)), "-C", layout)); err != nil {
		return config, err
	}
	var index, image manifest
	var docker []dockerImage
	if err := errors.Join(readJSON(layout, "index.json", &index), readJSON(layout, "manifest.json", &docker)); err != nil {
		return config, err
	}
	if len(index.Manifests) != 1 || *index.Manifests[0].Platform != (imagePlatform{p.arch, p.os}) {
		return config, fmt.Errorf("index.json does not have one image for %s: %+v", p.arch, index.Manifests)
	}
	if name := index.Manifests[0].Annotations[annotationName]; name != "docker.io/library/"+r.imageName() {
		return config, fmt.Errorf("index.json names the image %q", name)
	}
	if err := readBlob(layout, index.Manifests[0], &image); err != nil {
		return config, err
	}
	if image.Config == nil || len(image.Layers) != 1 {
		return config, fmt.Errorf("the manifest has %d layers, and the configuration %v", len(image.Layers), image.Config)
	}
	want := []dockerImage{{Config: image.Config.path(), RepoTags: []string{r.imageName()}, Layers: []string{image.Layers[0].path()}}}
	if !reflect.DeepEqual(docker, want) {
		return config, fmt.Errorf("manifest.json is %+v, index.json leads to %+v", docker, want)
	}
	if err := readBlob(layout, *image.Config, &config); err != nil {
		return config, err
	}
	if config.Architecture != p.arch || len(config.RootFS.DiffIDs) != 1 || len(config.Config.Entrypoint) != 1 {
		return config, fmt.Errorf("the configuration is for %s, with layers %q and entrypoint %q", config.Architecture, config.RootFS.DiffIDs, config.Config.Entrypoint)
	}
	layer, err := blob(layout, image.Layers[0])
	if err != nil {
		return config, err
	}
	return config, unpack(layer, root, config.RootFS.DiffIDs[0])
}

func readJSON(folder, name string, into any) error {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func blob(layout string, d descriptor) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(layout, d.path()))
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(content)); sum != d.Digest || len(content) != d.Size {
		return nil, fmt.Errorf("%s: %d bytes, %s", d.Digest, len(content), sum)
	}
	return content, nil
}

func readBlob(layout string, d descriptor, into any) error {
	content, err := blob(layout, d)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// unpack writes the files of a layer.
func unpack(layer []byte, root, diffID string) error {
	zipped, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(zipped)
	if err != nil {
		return err
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); sum != diffID {
		return fmt.Errorf("the layer is %s, the configuration says %s", sum, diffID)
	}
	archive := tar.NewReader(bytes.NewReader(plain))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = writeFile(name, archive, os.FileMode(h.Mode))
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(name string, from io.Reader, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
