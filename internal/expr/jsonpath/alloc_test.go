package jsonpath

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

const shop = `{"store":{"book":[
	{"category":"reference","author":"Rees","title":"Sayings","price":8.95},
	{"category":"fiction","author":"Waugh","title":"Sword","price":12.99},
	{"category":"fiction","author":"Melville","title":"Moby Dick","isbn":"0-553","price":8.99},
	{"category":"fiction","author":"Tolkien","title":"Rings","isbn":"0-395","price":22.99}],
	"bicycle":{"color":"red","price":19.95}},"expensive":10,
	"a1":1,"a2":2,"a3":3,"a4":4,"a5":5,"a6":6,"a7":7,"a8":8,"a9":9}`

// TestDefinitePathsDoNotAllocate is the promise of the package comment.
func TestDefinitePathsDoNotAllocate(t *testing.T) {
	data := parseJSON(t, shop)
	for _, src := range []string{"$", "$.store.bicycle.color", "$.store.book[1].title", "$.store.book[-1]['price']", "$.a7", "$.none.at.all", "$.store.book.length()", "$.store.book.first().title"} {
		p, err := Compiler{}.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		b := expr.NewBudget()
		if n := testing.AllocsPerRun(100, func() {
			if _, err := p.Eval(data, &b); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", src, n)
		}
	}
	// Testing items allocates nothing either; only the list of matches does.
	p, err := Compiler{}.Compile("$.store.book[?(@.category == 'none' && @.isbn || @.author in ['a','b'] || @.title empty true)]")
	if err != nil {
		t.Fatal(err)
	}
	b := expr.NewBudget()
	if n := testing.AllocsPerRun(100, func() {
		if r, err := p.Eval(data, &b); err != nil || !r.Missing {
			t.Fatal(r, err)
		}
	}); n != 0 {
		t.Errorf("a filter without matches: %v allocations", n)
	}
}

func benchmark(b *testing.B, c expr.Compiler, src string) {
	data := parseJSON(b, shop)
	p, err := c.Compile(src)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var budget expr.Budget
	for b.Loop() {
		budget = expr.NewBudget()
		if _, err := p.Eval(data, &budget); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDefinite(b *testing.B)     { benchmark(b, Compiler{}, "$.store.bicycle.color") }
func BenchmarkDefiniteItem(b *testing.B) { benchmark(b, Compiler{}, "$.store.book[1].title") }
func BenchmarkFilter(b *testing.B) {
	benchmark(b, Compiler{}, "$.store.book[?(@.price < $.expensive)].title")
}

func BenchmarkFilterText(b *testing.B) {
	benchmark(b, Compiler{}, "$.store.book[?(@.category == 'fiction')]")
}

func BenchmarkFilterRegex(b *testing.B) {
	benchmark(b, Compiler{}, "$.store.book[?(@.author =~ /.*ville/i)]")
}

func BenchmarkFilterLookahead(b *testing.B) {
	benchmark(b, Compiler{}, "$.store.book[?(@.author =~ /(?!Tol).*/i)]")
}
func BenchmarkDescent(b *testing.B) { benchmark(b, Compiler{}, "$..price") }
func BenchmarkTemplate(b *testing.B) {
	benchmark(b, TemplateCompiler{}, `{"color":"{{ $.store.bicycle.color }}","text":"first: {{ $.store.book[0].title }}"}`)
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Compiler{}).Compile("$.store.book[?(@.price < $.expensive && @.category == 'fiction')].title"); err != nil {
			b.Fatal(err)
		}
	}
}
