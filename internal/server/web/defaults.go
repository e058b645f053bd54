package web

import "reflect"

// SetDefaults sets the fields of a struct that are 0 to those of defaults, also in nested structs.
func SetDefaults[T any](to *T, defaults T) {
	setDefaults(reflect.ValueOf(to).Elem(), reflect.ValueOf(defaults))
}

func setDefaults(to, defaults reflect.Value) {
	for i := range to.NumField() {
		field := to.Field(i)
		switch {
		case field.Kind() == reflect.Struct:
			setDefaults(field, defaults.Field(i))
		case field.IsZero():
			field.Set(defaults.Field(i))
		}
	}
}
