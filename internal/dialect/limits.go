package dialect

// Limits bound what reading a document may cost. A document beyond one is
// refused with DOC003 and the limit's name.
type Limits struct {
	Bytes  int // document-bytes: the size of the text
	Depth  int // document-depth: how deep values nest
	Nodes  int // document-nodes: how many values there are, aliases expanded
	Digits int // document-digits: how many characters one number has
}

// DefaultLimits is what [Read] uses.
var DefaultLimits = Limits{Bytes: 4 << 20, Depth: 128, Nodes: 200_000, Digits: 1000}

// maxSyntaxErrors is after how many errors reading gives up: a file with more is
// most likely not what it claims to be.
const maxSyntaxErrors = 50
