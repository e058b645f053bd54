package postgres

import (
	"reflect"
	"strconv"
	"strings"
)

// function is a function of the schema whose arguments are the fields of a struct. They are passed by name,
// so that no value depends on its position, and the name of a field is the name of its argument: p_ and the
// field in lower case. A field that holds a row or rows has a tag, its prefix: each column of the row is an
// argument, the prefix and the column in lower case, and of several rows it is the array of their values.
// TestArguments compares these structs with the functions in the database.
type function[T any] struct {
	name        string
	args        []argument
	short, long statement // those that call it without and with what is rare
}

// argument is one argument of a function: how it is called, and how it is taken from the struct.
type argument struct {
	name  string
	typ   reflect.Type // of the value
	field int          // of the struct
	path  []int        // of the column in a row; nil: the field is the value
	many  bool         // the field has several rows
	rare  bool         // it has a default, and is left out where all that are rare are empty
}

// describe makes a function of a struct. A statement that only calls it begins with query.
func describe[T any](query, name string) *function[T] {
	f := &function[T]{name: name}
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("sql")
		if !tagged {
			f.args = append(f.args, argument{name: "p_" + strings.ToLower(field.Name), typ: field.Type, field: i})
			continue
		}
		prefix, option, _ := strings.Cut(tag, ",")
		row, many := field.Type, field.Type.Kind() == reflect.Slice
		if many {
			row = row.Elem()
		}
		for _, column := range reflect.VisibleFields(row) {
			if column.Anonymous {
				continue // its fields follow
			}
			a := argument{prefix + strings.ToLower(column.Name), column.Type, i, column.Index, many, option == "rare"}
			if many {
				a.typ = reflect.SliceOf(a.typ)
			}
			f.args = append(f.args, a)
		}
	}
	f.short, f.long = statement{name, query + f.text(1, false)}, statement{name + "_rare", query + f.text(1, true)}
	return f
}

// text is a call whose first parameter has a number.
func (f *function[T]) text(from int, rare bool) string {
	b := []byte("~." + f.name)
	separator := byte('(')
	for _, a := range f.args {
		if a.rare && !rare {
			continue
		}
		b = append(append(append(b, separator), a.name...), " => $"...)
		b = strconv.AppendInt(b, int64(from), 10)
		separator = ','
		from++
	}
	return string(append(b, ')'))
}

// call is a statement that only calls the function, and its parameters.
func (f *function[T]) call(args *T) (s statement, values []any) {
	v := reflect.ValueOf(args).Elem()
	for _, a := range f.args {
		if a.rare && v.Field(a.field).Len() > 0 {
			return f.long, f.values(args, true)
		}
	}
	return f.short, f.values(args, false)
}

// values are the parameters of a call.
func (f *function[T]) values(args *T, rare bool) []any {
	v := reflect.ValueOf(args).Elem()
	out := make([]any, 0, len(f.args))
	for i := range f.args {
		if a := &f.args[i]; rare || !a.rare {
			out = append(out, a.value(v.Field(a.field)))
		}
	}
	return out
}

func (a *argument) value(field reflect.Value) any {
	if a.many {
		n := field.Len()
		column := reflect.MakeSlice(a.typ, n, n)
		for i := range n {
			column.Index(i).Set(field.Index(i).FieldByIndex(a.path))
		}
		return column.Interface()
	}
	if a.path != nil {
		field = field.FieldByIndex(a.path)
	}
	if field.Kind() == reflect.Slice && field.IsNil() && a.typ.Elem().Kind() != reflect.Uint8 {
		return reflect.MakeSlice(a.typ, 0, 0).Interface() // NULL is no empty array
	}
	return field.Interface()
}
