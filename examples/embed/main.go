// Embed takes orders with a workflow engine inside the program. Its workflow is purchase.yaml; its
// functions are the methods of shop.
//
//	go run . orders 20
//
// takes twenty orders and keeps everything in the folder "orders". Kill it at any moment and start
// it again: it takes the orders that are missing, and continues those that it had begun.
package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/lockstep-workflows/lockstep"
)

//go:embed purchase.yaml
var workflows embed.FS

type order struct {
	Item string `json:"item"`
}

type receipt struct {
	Item    string `json:"item"`
	Receipt string `json:"receipt"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: embed FOLDER ORDERS"))
	}
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = run(context.Background(), os.Args[1], n)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "embed:", err)
	os.Exit(1)
}

func run(ctx context.Context, folder string, orders int) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	s := shop{folder}
	engine, err := lockstep.Open(ctx, "sqlite:"+filepath.Join(folder, "orders.db"),
		lockstep.Func("reserve", s.reserve),
		lockstep.Func("charge", s.charge),
	)
	if err != nil {
		return err
	}
	defer engine.Close()
	if _, err := engine.Deploy(ctx, lockstep.File(workflows, "purchase.yaml")); err != nil {
		return err
	}
	receipts := make([]receipt, orders)
	failures := make([]error, orders)
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() {
			// The key makes the start idempotent: after a crash it finds the instance of before.
			in, err := engine.Run(ctx, "book-purchase", order{fmt.Sprintf("book %d", i+1)}, lockstep.Key(fmt.Sprintf("order-%d", i+1)))
			if err == nil {
				receipts[i], err = lockstep.Output[receipt](in)
			}
			failures[i] = err
		})
	}
	all.Wait()
	for i, r := range receipts {
		if failures[i] != nil {
			return failures[i]
		}
		fmt.Printf("%s: %s\n", r.Item, r.Receipt)
	}
	return nil
}
