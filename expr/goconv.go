package expr

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

// FromGo converts what encoding/json and YAML readers give (maps, slices,
// strings, booleans, numbers of any kind). It is for tests and edges; hot paths
// never hold Go maps.
func FromGo(in any) (Value, error) {
	switch x := in.(type) {
	case nil:
		return Null, nil
	case Value:
		return x, nil
	case bool:
		return Bool(x), nil
	case string:
		return String(x), nil
	case int:
		return Int(int64(x)), nil
	case int8:
		return Int(int64(x)), nil
	case int16:
		return Int(int64(x)), nil
	case int32:
		return Int(int64(x)), nil
	case int64:
		return Int(x), nil
	case uint:
		return numberOf(strconv.FormatUint(uint64(x), 10)), nil
	case uint8:
		return Int(int64(x)), nil
	case uint16:
		return Int(int64(x)), nil
	case uint32:
		return Int(int64(x)), nil
	case uint64:
		return numberOf(strconv.FormatUint(x, 10)), nil
	case *big.Int:
		return numberOf(x.String()), nil
	case float32:
		return numberOfFloat(float64(x), 32), nil
	case float64:
		return numberOfFloat(x, 64), nil
	case json.Number:
		return Number(x.String())
	case []any:
		items := make([]Value, len(x))
		for i, e := range x {
			v, err := FromGo(e)
			if err != nil {
				return Null, err
			}
			items[i] = v
		}
		return Array(items...), nil
	case map[string]any:
		members := make([]Member, 0, len(x))
		for k, e := range x {
			v, err := FromGo(e)
			if err != nil {
				return Null, err
			}
			members = append(members, Member{k, v})
		}
		return Object(members...), nil
	}
	return Null, fmt.Errorf("a %T is not a JSON value", in)
}

// ToGo converts to maps, slices and json.Number, for libraries that want those.
func (v Value) ToGo() any {
	switch v.Kind() {
	case KindBool:
		return v.Bool()
	case KindNumber:
		return json.Number(v.NumberText())
	case KindString:
		return v.Str()
	case KindArray:
		out := make([]any, 0, v.Len())
		for _, it := range v.Items() {
			out = append(out, it.ToGo())
		}
		return out
	case KindObject:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Key] = m.Value.ToGo()
		}
		return out
	}
	return nil
}
