package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Types of CycloneDX 1.5, as far as they are needed here.
type (
	bom struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Serial      string      `json:"serialNumber"`
		Version     int         `json:"version"`
		Metadata    bomMetadata `json:"metadata"`
		Components  []component `json:"components"`
	}
	bomMetadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
)

// contents writes the list of everything that the programs contain: the modules that Go recorded in them, Go's
// standard library, and the packages that the page is built of.
func (r *release) contents(work string) error {
	found := map[string]component{}
	for _, p := range platforms {
		info, err := buildinfo.ReadFile(filepath.Join(work, p.os+"_"+p.arch, p.program()))
		if err != nil {
			return err
		}
		std := strings.TrimPrefix(info.GoVersion, "go")
		add(found, component{Type: "library", Name: "stdlib", Version: std, PURL: "pkg:golang/stdlib@" + std})
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add(found, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
		}
	}
	if err := pagePackages(found); err != nil {
		return err
	}
	list := bom{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: bomMetadata{
			Timestamp: r.when.Format(time.RFC3339),
			Component: component{
				Type: "application", Name: "lockstep", Version: r.version,
				PURL: "pkg:golang/github.com/lockstep-workflows/lockstep@" + r.version,
			},
		},
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list.Components = append(list.Components, found[key])
	}
	sum := sha256.Sum256(encode(list))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8: of the content
	list.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("lockstep_%s_sbom.cdx.json", r.number()), append(text, '\n'))
}

func add(found map[string]component, c component) { found[c.PURL] = c }

// pagePackages adds the packages that the page's bundles contain, as its lock file names them.
func pagePackages(found map[string]component) error {
	text, err := os.ReadFile("internal/ui/package-lock.json")
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("package-lock.json: %w", err)
	}
	for place, p := range lock.Packages {
		if place == "" || p.Dev {
			continue
		}
		_, name, _ := strings.Cut(path.Clean(place), "node_modules/")
		add(found, component{Type: "library", Name: name, Version: p.Version, PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version})
	}
	return nil
}
