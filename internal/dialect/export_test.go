package dialect

// Programs is the weight of all expressions so far, in bytes.
func (b *Budget) Programs() int { return b.programs }
