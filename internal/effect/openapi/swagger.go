package openapi

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
)

// read2 reads an operation of a 2.0 document.
func (c *compiler) read2(o *operation, k candidate) error {
	var err error
	if o.base, err = c.server2(k.op); err != nil {
		return err
	}
	list, err := c.parameters(k)
	if err != nil {
		return err
	}
	consumes := c.mediaTypes(k.op, "consumes")
	for _, p := range list {
		switch effect.Text(p.Value, "in") {
		case "body":
			err = c.body2(o, p, consumes)
		case "formData":
			err = c.field2(o, p, consumes)
		default:
			err = c.parameter2(o, p)
		}
		if err != nil {
			return err
		}
	}
	produces := c.mediaTypes(k.op, "produces")
	return c.responses(o, k.op, func(p place) []mediaCheck {
		schema, ok := p.member("schema")
		if !ok || effect.Text(schema.Value, "type") == "file" {
			return nil
		}
		check := c.compileSchema("the answer", schema, received)
		var out []mediaCheck
		for _, media := range produces {
			out = append(out, mediaCheck{strings.ToLower(media), check})
		}
		if len(out) == 0 {
			out = append(out, mediaCheck{"application/json", check})
		}
		return out
	})
}

// mediaTypes lists the operation's, else the document's.
func (c *compiler) mediaTypes(op place, key string) []string {
	list, ok := op.Get(key)
	if !ok {
		list, _ = c.root.root.Get(key)
	}
	return textsOf(list)
}

func (c *compiler) parameter2(o *operation, p place) error {
	param, err := newParameter(p)
	if err != nil {
		return err
	}
	switch param.in {
	case inPath:
		param.style = simple
	case inHeader:
		param.style = simple
		if ignored, err := param.header(); ignored || err != nil {
			return err
		}
	case inQuery:
		param.style = form
	default:
		return broken("parameter %q goes to %q, which is not path, query, header, body or formData", param.name, param.in)
	}
	if param.style, param.explode, err = collection(p, param.style, param.in); err != nil {
		return err
	}
	param.check = c.compileSchema(param.what(), p, sent) // it is its own schema
	o.parameters = append(o.parameters, param)
	return nil
}

// collection is how 2.0 writes arrays.
func collection(p place, base style, in string) (s style, explode bool, err error) {
	format := effect.Text(p.Value, "collectionFormat")
	switch format {
	case "", "csv":
		return base, false, nil
	case "multi":
		if in == inQuery || in == "formData" {
			return form, true, nil
		}
	case "ssv":
		return spaced, false, nil
	case "tsv":
		return tabbed, false, nil
	case "pipes":
		return piped, false, nil
	}
	return 0, false, broken("parameter %q: the collectionFormat %q is not one for in: %s", effect.Text(p.Value, "name"), format, in)
}
