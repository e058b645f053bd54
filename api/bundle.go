package api

// Bundle is the result of deploying definitions together with the files that they refer to.
type Bundle struct {
	Digest      string               `json:"digest"` // of the definitions and the files that they use
	Definitions []DeployedDefinition `json:"definitions"`
	Unused      []string             `json:"unused,omitempty"` // files that no definition refers to
	Diff        string               `json:"diff,omitempty"`   // of a dry run: what would change, as diff -u writes it
}

// DeployedDefinition is a definition of a bundle.
type DeployedDefinition struct {
	Definition Definition `json:"definition"`
	Change     Change     `json:"change"`
	Before     string     `json:"before,omitempty"` // the digest of the version that was current; "": there was none
}

// Change is what a deployment did to a definition, or would do.
type Change string

// The changes.
const (
	ChangeCreated    Change = "created"     // the definition is new
	ChangeNewVersion Change = "new-version" // the version is new
	ChangeReplaced   Change = "replaced"    // the version has other content now
	ChangeRestored   Change = "restored"    // an earlier version is the current one again
	ChangeUnchanged  Change = "unchanged"
)

// IsNew reports whether the content is new under its id and version.
func (c Change) IsNew() bool { return c != ChangeRestored && c != ChangeUnchanged }

// DefinitionFile is a file that a definition uses, as it was when the definition was deployed.
type DefinitionFile struct {
	Path     string `json:"path"` // in the bundle; of a document from the network, its address
	Bytes    int64  `json:"bytes"`
	Digest   string `json:"digest"`             // SHA-256, as sha256sum prints it
	Document bool   `json:"document,omitempty"` // it is the definition itself
	Remote   bool   `json:"remote,omitempty"`   // it was fetched over http(s)
}
