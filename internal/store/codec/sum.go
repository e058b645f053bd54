package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// sealed is the first byte of a value that ends with a checksum. It differs from form in every bit,
// so that only damage to all eight can turn one into the other.
const sealed = 0xFE

// sealedRefs is the first byte of one that begins with chunks and references.
const sealedRefs = 0xFD

// sumSize is how many bytes a checksum has.
const sumSize = 4

// PageOverhead is by how many bytes a stored page is larger than its data.
const PageOverhead = 1 + sumSize

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// owner is what a value belongs to. Checksums cover it, too: a value that ended up in another
// row, or whose row changed around it, is as damaged as one with a flipped bit.
type owner struct {
	kind    byte
	texts   [6]string
	numbers [4]int64
}

// Kinds of values. They are part of checksums: never change one.
const (
	kindRest      = 'i'
	kindPage      = 'p'
	kindRecords   = 'r'
	kindDeletion  = 'x'
	kindInput     = 'm'
	kindInvoke    = 'c'
	kindEmit      = 'o'
	kindEvent     = 'e'
	kindFate      = 'f'
	kindFilter    = 's'
	kindGathering = 'g'
	kindAlias     = 'a'
	kindContent   = 'd'
	kindHour      = 'h'
	kindState     = 't'
)

func (o *owner) append(b []byte) []byte {
	b = append(b, o.kind)
	for _, s := range o.texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	for _, n := range o.numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// owners are buffers for encoded owners: what is given to crc32 escapes to the heap.
var owners = sync.Pool{New: func() any { return new([]byte) }}

// sum is the checksum of data and its owner.
func (o *owner) sum(data []byte) uint32 {
	b := owners.Get().(*[]byte)
	defer owners.Put(b)
	*b = o.append((*b)[:0])
	return crc32.Update(crc32.Checksum(data, castagnoli), castagnoli, *b)
}

// seal appends the checksum of buf[from:].
func (o *owner) seal(buf []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(buf, o.sum(buf[from:]))
}

// unseal checks the checksum, and returns data without it and the first byte.
func (o *owner) unseal(data []byte) ([]byte, error) {
	if len(data) <= sumSize {
		return nil, errMalformed
	}
	body := data[:len(data)-sumSize]
	if o.sum(body) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, errSum
	}
	return body[1:], nil
}

// AppendPage appends a page of an instance, which is identified by its id and time of creation.
func AppendPage(dst []byte, id string, created core.Time, p *core.Page) []byte {
	from := len(dst)
	dst = slices.Grow(dst, len(p.Data)+PageOverhead)
	o := pageOwner(id, created, p)
	return o.seal(append(append(dst, sealed), p.Data...), from)
}

// DecodePage is the reverse of AppendPage: it replaces the stored bytes in p.Data by the page.
// Pages stored before there were checksums begin with the version of the core's encoding.
func DecodePage(id string, created core.Time, p *core.Page) (err error) {
	switch {
	case len(p.Data) == 0:
		err = errMalformed
	case p.Data[0] == form:
	case p.Data[0] != sealed:
		err = unknownForm(p.Data[0])
	default:
		o := pageOwner(id, created, p)
		var body []byte
		if body, err = o.unseal(p.Data); err == nil {
			p.Data = body
		}
	}
	if err != nil {
		return fmt.Errorf("instance %s: the page of frame %d, part %d is %w: %w", id, p.Frame, p.Part, store.ErrDamaged, err)
	}
	return nil
}

func pageOwner(id string, created core.Time, p *core.Page) owner {
	return owner{kind: kindPage, texts: [6]string{id}, numbers: [4]int64{int64(created), int64(p.Frame), int64(p.Part)}}
}
