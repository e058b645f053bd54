//go:build unix

package docs

import (
	"context"
	"embed"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
)

// The blocks of go on pages are parts of this file, which TestGoBlocks compares: so they compile, and do what they say.

//go:embed workflows
var workflows embed.FS

func order(ctx context.Context, shop Shop, request Request) (string, error) {
	engine, err := lockstep.Open(ctx, "sqlite:orders.db",
		lockstep.Func("reserve", shop.Reserve),
		lockstep.Func("charge", shop.Charge),
	)
	if err != nil {
		return "", err
	}
	defer engine.Close()
	if _, err := engine.Deploy(ctx, lockstep.File(workflows, "workflows/order.yaml")); err != nil {
		return "", err
	}
	id, err := engine.Start(ctx, "order", Order{Item: "lamp"}, lockstep.Key(request.ID))
	if err != nil {
		return "", err
	}
	_, err = engine.Wait(ctx, id)
	return id, err
}

func charge(bank Bank) lockstep.Option {
	return lockstep.Func("charge", func(ctx context.Context, in struct{ Item string }) (Receipt, error) {
		return bank.Charge(ctx, in.Item, lockstep.CallKey(ctx))
	})
}

func find(ctx context.Context, engine *lockstep.Engine, id string) (api.Instance, error) {
	instance, err := engine.Get(ctx, id)
	var refused *lockstep.Error
	if errors.As(err, &refused) && refused.Code == api.CodeNotFound {
		return api.Instance{}, nil // there is no such instance
	}
	return instance, err
}

type (
	Order   struct{ Item string }
	Request struct{ ID string }
	Receipt struct{ Number int }
	Shop    struct{ bank Bank }
	Bank    struct{ charged map[string]string }
)

func (s Shop) Reserve(_ context.Context, _ struct{ Item string }) (struct{}, error) {
	return struct{}{}, nil
}

func (s Shop) Charge(ctx context.Context, in struct{ Item string }) (Receipt, error) {
	return s.bank.Charge(ctx, in.Item, lockstep.CallKey(ctx))
}

func (b Bank) Charge(_ context.Context, item, key string) (Receipt, error) {
	b.charged[key] = item
	return Receipt{len(b.charged)}, nil
}

// TestEmbedding: the program of embedding.md runs; the same request twice is one order.
func TestEmbedding(t *testing.T) {
	t.Chdir(t.TempDir())
	bank := Bank{map[string]string{}}
	first, err := order(t.Context(), Shop{bank}, Request{"r-1"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := order(t.Context(), Shop{bank}, Request{"r-1"}); err != nil || again != first || len(bank.charged) != 1 {
		t.Errorf("the same request is the instances %s and %s, %v; charged: %v", first, again, err, bank.charged)
	}
	engine, err := lockstep.Open(t.Context(), "memory:", charge(bank))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if found, err := find(t.Context(), engine, "absent"); err != nil || found.ID != "" {
		t.Errorf("an instance that does not exist: %v, %v", found, err)
	}
}

// TestGoBlocks: blocks of go on pages are parts of this file, apart from indentation and empty lines.
func TestGoBlocks(t *testing.T) {
	source, err := os.ReadFile("embedding_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString("\n" + line)
			}
		}
		return b.String() + "\n"
	}
	blocks := 0
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n```go\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			if blocks++; !strings.Contains(lines(string(source)), lines(block)) {
				t.Errorf("%s: this is not in embedding_test.go:\n%s", file, block)
			}
		}
	}
	if blocks < 3 {
		t.Errorf("only %d blocks", blocks)
	}
}
