package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstep-workflows/lockstep"
)

// shop stands for the systems of others: it keeps a file for each thing that it did, below its
// folder. The engine may call a function again after a crash, always with the same key, so the
// name of the file comes from the key.
type shop struct{ folder string }

type reservation struct {
	Reservation string `json:"reservation"`
}

func (s shop) reserve(ctx context.Context, o order) (reservation, error) {
	done, err := s.once(lockstep.CallKey(ctx), "reserved "+o.Item)
	return reservation{done}, err
}

func (s shop) charge(ctx context.Context, in struct{ Item, Reservation string }) (receipt, error) {
	done, err := s.once(lockstep.CallKey(ctx), "charged for "+in.Item+" ("+in.Reservation+")")
	return receipt{in.Item, done}, err
}

// once does something, unless it was done under this key already.
func (s shop) once(key, what string) (string, error) {
	name := fmt.Sprintf("done-%x", sha256.Sum256([]byte(key)))
	f, err := os.OpenFile(filepath.Join(s.folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return what, nil
	}
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, what)
	return what, errors.Join(err, f.Close())
}
