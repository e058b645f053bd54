package dialect

// The codes of this package: DOC for reading a document, DIA for finding out its
// dialect, DEF for compiling a definition of any dialect, BND for those that are
// deployed together.
const (
	CodeSyntax       = "DOC001"
	CodeDuplicateKey = "DOC002"
	CodeLimit        = "DOC003"
	CodeEncoding     = "DOC004"
	CodeEmpty        = "DOC005"
	CodeDocuments    = "DOC006"
	CodeTag          = "DOC007"
	CodeKey          = "DOC008"
	CodeNumber       = "DOC009"
	CodeAlias        = "DOC010"
	CodeLeadingZero  = "DOC011"

	CodeUndecided      = "DIA001"
	CodeUnknownDialect = "DIA002"
	CodeNotObject      = "DIA003"

	CodePrograms = "DEF001"
	CodeStopped  = "DEF002"
	CodeMore     = "DEF003"
	CodeLabel    = "DEF004"
	CodeSchedule = "DEF005"
	CodeNoFire   = "DEF006"

	CodeSameID     = "BND001"
	CodeNoWorkflow = "BND002"
)
