package jsonpath_test

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

func ExampleCompiler() {
	data, _ := expr.ParseJSON([]byte(`{"orders":[{"id":1,"total":20.50},{"id":2,"total":5}]}`))
	for _, src := range []string{"$.orders[0].total", "$.orders[?(@.total > 10)].id", "$.orders[*].total.sum()"} {
		program, err := jsonpath.Compiler{}.Compile(src)
		if err != nil {
			fmt.Println(err)
			continue
		}
		budget := expr.NewBudget()
		result, err := program.Eval(data, &budget)
		fmt.Println(result.Value, result.List, err)
	}
	// Output:
	// 20.50 false <nil>
	// [1] true <nil>
	// 25.5 false <nil>
}

func ExampleTemplateCompiler() {
	data, _ := expr.ParseJSON([]byte(`{"name":"Ann","age":26}`))
	program, err := jsonpath.TemplateCompiler{}.Compile(`{"text":"Hello {{ $.name }}","age":"{{ $.age }}","city":"{{ $.city }}"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := expr.NewBudget()
	result, err := program.Eval(data, &budget)
	fmt.Println(result.Value, result.Holes, err)
	// Output: {"age":26,"city":null,"text":"Hello Ann"} [$.city] <nil>
}

func ExampleCheckTemplateString() {
	err := jsonpath.CheckTemplateString("Hello {{ $.people[?(@.age = 18)] }}")
	fmt.Println(err)
	fmt.Println(err.(*expr.SyntaxError).Hint)
	// Output:
	// at column 27: unknown operator =
	// write == for equal
}

func ExampleDescribe() {
	shape, _ := jsonpath.Describe("{{ $.payload.greeting }}")
	fmt.Println(shape.Definite, shape.Depth, shape.Name, shape.Keys)
	// Output: true 2 greeting [payload greeting]
}
