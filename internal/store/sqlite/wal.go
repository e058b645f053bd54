package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// SQLite reads its log up to the first frame that does not fit and passes over the rest without
// a word: after a crash that is the end of a commit that was never acknowledged. Where whole
// commits lie behind it, the log was damaged. See https://sqlite.org/fileformat2.html#walformat.

const (
	logHeaderSize   = 32
	frameHeaderSize = 24
	logMagic        = 0x377f0682 // the last bit is set where checksums are of big-endian words
	logVersion      = 3007000
)

// logDamage is what SQLite will not read of a log.
type logDamage struct {
	frame   int // the first one that does not fit
	frames  int // of the same generation, from there on
	commits int // that they hold the end of
}

func (d logDamage) String() string {
	return fmt.Sprintf("the log is damaged at frame %d: %d frames with %d commits from there on cannot be read, "+
		"and what no checkpoint had copied to the database before is lost", d.frame, d.frames, d.commits)
}

// scanLog reads the log of a database that is not open; damaged is false for a log that a crash
// can leave, too.
func scanLog(path string) (found logDamage, damaged bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return logDamage{}, false, nil
	}
	if err != nil {
		return logDamage{}, false, err
	}
	defer f.Close()
	s := logScan{}
	if err := s.read(bufio.NewReaderSize(f, 1<<20)); err != nil {
		return logDamage{}, false, fmt.Errorf("read the log %s: %w", path, err)
	}
	return s.logDamage, s.certain > 0, nil
}

// logScan reads a log frame by frame. Behind the first bad one, a frame continues another
// where its checksum does: both were written one after the other.
type logScan struct {
	logDamage
	order   binary.ByteOrder
	salts   uint64
	sum     [2]uint32 // of everything up to here, as the last frame has it
	ends    int       // of commits, in frames that continue each other, behind the bad one
	certain int       // commits behind the bad frame that another one continues: those were synced
}

func (s *logScan) read(r io.Reader) error {
	header := make([]byte, logHeaderSize)
	if _, err := io.ReadFull(r, header); err != nil {
		return ending(err)
	}
	size, sound := s.header(header)
	frame := make([]byte, frameHeaderSize+size)
	for i := 1; ; i++ {
		if _, err := io.ReadFull(r, frame); err != nil {
			return ending(err)
		}
		if !sound && i == 1 && s.tornHeader(header, frame) {
			return nil
		}
		if !sound && i == 1 { // the frames know their generation, too
			s.salts = binary.BigEndian.Uint64(frame[8:])
			s.logDamage.frame = 1
		}
		s.frame(i, frame)
	}
}

// ending is nil where a file ends, also inside of a frame.
func ending(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// header reads the size of pages; one that is not sound makes SQLite pass over the whole log.
func (s *logScan) header(h []byte) (size int, sound bool) {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }
	s.order = binary.LittleEndian
	if word(0) == logMagic|1 {
		s.order = binary.BigEndian
	}
	s.salts = binary.BigEndian.Uint64(h[16:])
	s.sum = [2]uint32{word(24), word(28)}
	size = int(word(8))
	if size < 512 || size > 65536 || size&(size-1) != 0 {
		return 4096, false
	}
	return size, word(0)&^1 == logMagic && word(4) == logVersion && checksum(s.order, [2]uint32{}, h[:24]) == s.sum
}

// tornHeader reports whether a header that is not sound is a part of another one, written over that of
// the frames when the power went: SQLite begins a log anew when all of it is in the database. The new
// header counts one more, and the first frame tells whether the rest was right.
func (s *logScan) tornHeader(h, frame []byte) bool {
	before := slices.Clone(h[:24])
	binary.BigEndian.PutUint32(before[12:], binary.BigEndian.Uint32(h[12:])-1)
	copy(before[16:], frame[8:16])
	old := logScan{order: s.order, salts: binary.BigEndian.Uint64(frame[8:]), sum: checksum(s.order, [2]uint32{}, before)}
	return old.continues(frame)
}

func (s *logScan) frame(i int, f []byte) {
	pages := binary.BigEndian.Uint32(f[4:])
	same := binary.BigEndian.Uint64(f[8:]) == s.salts
	continues := s.continues(f)
	s.sum = frameSum(f)
	switch {
	case s.logDamage.frame == 0 && continues:
		return
	case s.logDamage.frame == 0:
		s.logDamage.frame = i
	}
	if !continues {
		s.ends = 0
	}
	if !same {
		return // left over from before the log began anew
	}
	s.frames++
	if pages == 0 {
		return
	}
	s.commits++
	if s.ends++; s.ends > 1 {
		s.certain++
	}
}

// continues reports whether a frame was written behind what was read so far.
func (s *logScan) continues(f []byte) bool {
	return binary.BigEndian.Uint64(f[8:]) == s.salts && binary.BigEndian.Uint32(f) != 0 &&
		checksum(s.order, checksum(s.order, s.sum, f[:8]), f[frameHeaderSize:]) == frameSum(f)
}

func frameSum(f []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(f[16:]), binary.BigEndian.Uint32(f[20:])}
}

func checksum(order binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += order.Uint32(data) + sum[1]
		sum[1] += order.Uint32(data[4:]) + sum[0]
	}
	return sum
}

// keepLog copies a damaged log, which SQLite is about to overwrite.
func keepLog(path string) (copied string, err error) {
	copied = path + "-damaged"
	to, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return "", err
	}
	from, err := os.Open(path)
	if err == nil {
		_, err = io.Copy(to, from)
		_ = from.Close()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		_ = os.Remove(copied)
		return "", err
	}
	return copied, nil
}
