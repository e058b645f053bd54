package dialect

import (
	"slices"
	"strings"
)

// Explanation is what `lockstep explain CODE` tells.
type Explanation struct {
	Code, Title, Text string

	// Excerpts of documents: Bad leads to the code, Good does not.
	Bad, Good string
}

// Explain finds a code in the tables.
func Explain(code string, tables ...[]Explanation) (Explanation, bool) {
	for _, table := range tables {
		i := slices.IndexFunc(table, func(e Explanation) bool { return strings.EqualFold(e.Code, code) })
		if i >= 0 {
			return table[i], true
		}
	}
	return Explanation{}, false
}

// Codes returns the explanations of this package's own codes.
func Codes() []Explanation { return slices.Clone(explanations) }

var explanations = []Explanation{
	{
		Code: CodeSyntax, Title: "the text is not YAML or JSON",
		Text: "The document breaks the rules of the format it is written in. It is read as JSON when it begins with a " +
			"brace or bracket or its name ends in .json, and as YAML 1.2 otherwise. JSON has no comments, no trailing " +
			"commas, no \"...\" and only double quotes; YAML is indented with spaces, and text that holds \": \" or \" #\", " +
			"or begins with one of {[*&!|>%@` needs quotes.",
		Bad:  "{\n  \"id\": \"order\",\n}\n",
		Good: "{\n  \"id\": \"order\"\n}\n",
	},
	{
		Code: CodeDuplicateKey, Title: "a key stands twice in one object",
		Text: "Readers differ in which of two equal keys they take, so neither is taken for granted. Remove one, or " +
			"rename it. Numbers count by how they are written: 1 and \"1\" are the same key.",
		Bad:  "id: order\nname: Order\nid: order-2\n",
		Good: "id: order\nname: Order\n",
	},
	{
		Code: CodeLimit, Title: "the document is too large",
		Text: "Reading is bounded so that no document can exhaust the server. The message names the limit: document-bytes " +
			"(4 MiB of text), document-depth (128 levels of nesting), document-nodes (200,000 values, where what an alias " +
			"stands for counts each time), document-digits (1,000 characters in one number). Split the definition, or move " +
			"data out of it.",
		Bad:  strings.Repeat("[", 129) + strings.Repeat("]", 129) + "\n",
		Good: strings.Repeat("[", 128) + strings.Repeat("]", 128) + "\n",
	},
	{
		Code: CodeEncoding, Title: "the text is not plain UTF-8",
		Text: "Definitions are UTF-8 text. Other encodings (UTF-16, Latin-1) and control characters are refused. Save the " +
			"file as UTF-8; write a control character as an escape in double quotes.",
		Bad:  "name: caf\xe9\n",
		Good: "name: café\n",
	},
	{
		Code: CodeEmpty, Title: "the document is empty",
		Text: "The file holds nothing but white space or comments.",
		Bad:  "# nothing yet\n",
		Good: "id: order\n",
	},
	{
		Code: CodeDocuments, Title: "a file holds several documents",
		Text: "One file is one definition. Move what stands behind the second \"---\" to a file of its own.",
		Bad:  "id: first\n---\nid: second\n",
		Good: "---\nid: first\n",
	},
	{
		Code: CodeTag, Title: "a YAML tag is not allowed",
		Text: "Only YAML's core tags (!!str !!int !!float !!bool !!null !!seq !!map) may stand in a definition, and " +
			"a value must be what its tag says.",
		Bad:  "created: !!timestamp 2026-03-01\n",
		Good: "created: 2026-03-01\ncode: !!str 402\n",
	},
	{
		Code: CodeKey, Title: "a key is not text",
		Text: "Keys are text, as in JSON. A plain key is the text it is written with: on, 200 and true are \"on\", \"200\" " +
			"and \"true\". Null, mappings and lists cannot be keys. Text that begins with {{ looks like a mapping to YAML " +
			"and needs quotes.",
		Bad:  "greeting: {{ $.name }}\n",
		Good: "greeting: \"{{ $.name }}\"\n",
	},
	{
		Code: CodeNumber, Title: "a number that JSON cannot hold",
		Text: "A workflow's data is JSON, which has no infinity and no not-a-number.",
		Bad:  "limit: .inf\n",
		Good: "limit: 1e9\nname: \".inf\"\n",
	},
	{
		Code: CodeAlias, Title: "an alias or a merge cannot be resolved",
		Text: "An alias (*name) refers to an anchor (&name) before it, outside of what it stands in; a merge (<<) takes a " +
			"mapping or a list of mappings. Text that begins with * needs quotes.",
		Bad:  "retry: *defaults\n",
		Good: "defaults: &defaults {maxAttempts: 3}\nretry: *defaults\n",
	},
	{
		Code: CodeLeadingZero, Title: "a number begins with zeros",
		Text: "YAML 1.2 reads 010 as ten; older readers read eight. Write 10, 0o10 or \"010\", whichever is meant.",
		Bad:  "code: 010\n",
		Good: "code: \"010\"\n",
	},
	{
		Code: CodeUndecided, Title: "the dialect cannot be told",
		Text: "A definition need not name the version it is written for: it shows by its keys. This document has none that " +
			"only one dialect knows, such as an end with a kind for Serverless Workflow 0.5. Name the dialect with --dialect; " +
			"that always wins over detection.",
		Bad:  "id: order\n",
		Good: "id: order\nname: Order\nstates:\n- {name: Pay, type: inject, start: {kind: default}, data: {paid: true}, end: {kind: default}}\n",
	},
	{
		Code: CodeUnknownDialect, Title: "no such dialect",
		Text: "The name given with --dialect is not one of the dialects that this program knows; the message lists them.",
		Bad:  "# lockstep validate --dialect sw5 order.yaml\nid: order\n",
		Good: "# lockstep validate --dialect sw05 order.yaml\nid: order\nstates: []\n",
	},
	{
		Code: CodeNotObject, Title: "the document is not an object",
		Text: "Every definition is an object (a mapping) at its outermost level. This document is a list or a single value.",
		Bad:  "- id: order\n",
		Good: "id: order\n",
	},
	{
		Code: CodePrograms, Title: "the definition is too large once it is compiled",
		Text: "A few letters can stand for a large program: [a-z]{1,1000} takes a hundred kilobytes of memory. The regular expressions and " +
			"JSON Schemas of one definition may take 16 MiB together (limit definition-programs), each counted wherever it stands; the names of " +
			"its states, each as often as it has steps, 16 MiB as well (limit definition-names). Compiling ends at the place where the sum " +
			"is exceeded. Use + and * in place of large repetitions, check lengths with maxLength, or split the definition.",
		Bad:  "# two hundred conditions such as\ncondition: \"{{ $.names[?(@ =~ /[a-z]{1,1000}/)] }}\"\n",
		Good: "# two hundred conditions such as\ncondition: \"{{ $.names[?(@ =~ /[a-z]+/)] }}\"\n",
	},
	{
		Code: CodeStopped, Title: "compiling took too long",
		Text: "On a server, compiling is bounded by deploy-time, with everything that is fetched for the definition, and in the playground by " +
			"playground-time. The message says which it was. Nothing is wrong with the definition itself: try again, or on a server that has less to do.",
		Bad:  "# a document of 4 MiB on a server that is busy for a minute\n",
		Good: "# lockstep validate order.yaml, which has no such bound\n",
	},
	{
		Code: CodeMore, Title: "there are more diagnostics than are told",
		Text: "Of one definition, the first 100 diagnostics are told (limit diagnostics), errors before warnings. This last one says how many " +
			"there are beside. Correct the others first: many follow from one mistake.",
		Bad:  "# a definition with 250 misspelt keys\n",
		Good: "# one with 100\n",
	},
}
