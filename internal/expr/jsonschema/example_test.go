package jsonschema_test

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

func ExampleCompiler() {
	program, err := jsonschema.Compiler{}.Compile(`{"type":"object","required":["id"],"properties":{"age":{"minimum":18}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, _ := expr.ParseJSON([]byte(`{"age":17}`))
	budget := expr.NewBudget()
	result, err := program.Eval(data, &budget)
	for _, v := range result.Value.Items() {
		fmt.Println(v)
	}
	fmt.Println(err)
	// Output:
	// {"message":"misses the property \"id\"","pointer":""}
	// {"message":"must be at least 18","pointer":"/age"}
	// <nil>
}
