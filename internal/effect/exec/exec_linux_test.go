package exec

import (
	"context"
	"testing"
)

func TestDaemonOutlivesItsCommand(t *testing.T) {
	listener, address := listen(t)
	mark := "EXEC_MARK=" + address
	c := command("away", address, mark)
	c.Mark = mark
	done := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), c)
		done <- err
	}()
	over := accept(t, listener)
	if err := <-done; err != nil {
		t.Error(err)
	}
	over()
}

func TestDaemonOutlivesItsProcess(t *testing.T) {
	listener, address := listen(t)
	mark := "EXEC_MARK=" + address
	c := command("away", address, mark)
	c.Mark = mark
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	over := accept(t, listener)
	if r := p.Close(t.Context()); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	over()
}
