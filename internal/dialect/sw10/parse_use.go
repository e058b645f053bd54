package sw10

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// components reads what the definition shares (Open Workflow §Use).
func (p *parser) components(n *dialect.Node) {
	f := p.Fields(n, "use")
	if f == nil {
		return
	}
	u := &p.def.use
	p.secretList(f)
	each(p, f, "authentications", func(m *dialect.Node) {
		if a := p.policy(m, inComponent); a != nil {
			a.name = m.Key
			u.authentications = append(u.authentications, a)
		}
	})
	each(p, f, "catalogs", func(m *dialect.Node) {
		if c := p.Fields(m, "a catalog"); c != nil {
			u.catalogs = append(u.catalogs, &catalog{shared{node: m, name: m.Key}, p.endpoint(c.Need("endpoint"), inComponent)})
			c.Done()
		}
	})
	each(p, f, "errors", func(m *dialect.Node) {
		if e := p.errorDef(m, inComponent); e != nil {
			e.name = m.Key
			u.errors = append(u.errors, e)
		}
	})
	each(p, f, "retries", func(m *dialect.Node) {
		if r := p.retryDef(m, inComponent); r != nil {
			r.name = m.Key
			u.retries = append(u.retries, r)
		}
	})
	each(p, f, "timeouts", func(m *dialect.Node) {
		if t := p.timeoutDef(m, inComponent); t != nil {
			t.name = m.Key
			u.timeouts = append(u.timeouts, t)
		}
	})
	each(p, f, "functions", func(m *dialect.Node) {
		if slices.Contains(builtinCalls, m.Name()) {
			p.Warnf(m.Key, codeReservedName, "function %q is never called: the name is that of a built-in call", m.Name())
		}
		u.functions = append(u.functions, &function{shared{node: m, name: m.Key}, p.task(m, "/use/functions/"+escape(m.Name()), nil)})
	})
	p.extensions(f)
	f.Done()
}

// each reads the members of an object of named components.
func each(p *parser, f *dialect.Fields, key string, read func(*dialect.Node)) {
	n := f.Get(key)
	if n == nil || !p.Is(n, expr.KindObject, key) {
		return
	}
	p.Budget.Spend(len(n.Members))
	for _, m := range n.Members {
		read(m)
	}
}

// secretList reads the secrets that the definition may use.
func (p *parser) secretList(f *dialect.Fields) {
	items, _ := f.List("secrets")
	for _, n := range items {
		name := p.Named(n, "the name of a secret")
		if name == nil {
			continue
		}
		if p.secrets[name.Text] {
			p.Warnf(name, codeSameName, "secret %q is listed twice", name.Text)
			continue
		}
		p.secrets[name.Text] = true
		p.secretNames = append(p.secretNames, name.Text)
		p.def.use.secrets = append(p.def.use.secrets, name)
	}
}

// extendable are the words of extension.extend. The last was one until 1.0.3, without a meaning.
var extendable = []string{
	kindCall, extendComposite, kindEmit, kindFor, kindListen, kindRaise, kindRun, kindSet, kindSwitch, kindTry, kindWait, extendAll, "extension",
}

// extensions reads tasks around tasks (Open Workflow §Extension).
func (p *parser) extensions(f *dialect.Fields) {
	items, _ := f.List("extensions")
	for i, item := range items {
		n := p.item(item, "an extension")
		if n == nil {
			continue
		}
		e := p.Fields(n, "an extension")
		if e == nil {
			continue
		}
		e.Called(n.Key)
		ref := "/use/extensions/" + strconv.Itoa(i) + "/" + escape(n.Name())
		x := &extension{node: n, name: n.Key, ref: ref}
		if e.Peek("extend") == nil {
			e.Need("extend")
		} else {
			x.extend, _ = e.Choice("extend", extendable...)
		}
		if at := e.Peek("extend"); x.extend == "extension" {
			p.Warnf(at, codeIgnored, "extensions of extensions have no effect")
			x.extend = ""
		}
		x.when = p.condition(e.Get("when"), p.in(rawInput, "when of an extension"))
		x.before = p.list(e.Get("before"), ref+"/before")
		x.after = p.list(e.Get("after"), ref+"/after")
		e.Done()
		p.def.use.extensions = append(p.def.use.extensions, x)
	}
}

// errorDef reads an error that is raised (Open Workflow §Error).
func (p *parser) errorDef(n *dialect.Node, s scope) *errorDef {
	f := p.Fields(n, "an error")
	if f == nil {
		return nil
	}
	e := &errorDef{shared: shared{node: n}}
	e.typ = p.address(f.Need("type"), s)
	if status := f.Need("status"); status != nil {
		if _, _, ok := undelimited(status.Text); ok && status.Kind == expr.KindString {
			p.Errorf(status, codeConstant, "the status of an error cannot be an expression")
		} else {
			e.status, _ = p.Whole(status, "status", 0, 999)
		}
	}
	e.title = p.template(f.Str("title"), s)
	e.detail = p.template(f.Str("detail"), s)
	if instance := f.Str("instance"); instance != nil {
		p.Warnf(instance.KeySpan(), codeInstance, "instance is ignored: an error always names the task that raised it")
	}
	e.value = p.errorValue(n)
	f.Done()
	return e
}

// errorValue is the template of an error as it is raised: without an instance, and with a standard
// type in its newest spelling.
func (p *parser) errorValue(n *dialect.Node) *expression {
	e := p.whole(n)
	e.parts, e.vars, e.constant = nil, nil, true
	before := p.silent
	p.silent = true
	var members []expr.Member
	for _, m := range n.Value().Members() {
		if m.Key == "instance" {
			continue
		}
		p.texts(e, n.Get(m.Key), m.Value, inComponent)
		if m.Key == "type" {
			m.Value = expr.String(errorType(m.Value.Str()))
		}
		members = append(members, m)
	}
	p.silent = before
	e.src = expr.Object(members...).String()
	return e
}

// policyKeys are the schemes of authentication.
var policyKeys = []string{schemeBasic, schemeBearer, schemeDigest, schemeOAuth2, schemeOIDC}

// authentication reads a policy, or the name of one of use.authentications.
func (p *parser) authentication(n *dialect.Node, s scope) use[authentication] {
	none := use[authentication]{}
	switch {
	case n == nil:
		return none
	case n.Kind == expr.KindString: // the reference has it so, though not the schema
		if p.NonEmpty(n, n.Name()) == nil {
			return none
		}
		return use[authentication]{name: n, scope: s}
	case n.Get("use") == nil:
		return use[authentication]{def: p.policy(n, s), scope: s}
	}
	f := p.Fields(n, "authentication")
	name := f.OptionalName("use")
	for _, key := range policyKeys {
		if other := f.Get(key); other != nil {
			f.Both(f.Peek("use"), other)
		}
	}
	f.Done()
	if name == nil {
		return none
	}
	return use[authentication]{name: name, scope: s}
}

// policy reads how a client proves who it is (Open Workflow §Authentication). Secrets are meant
// for it.
func (p *parser) policy(n *dialect.Node, s scope) *authentication {
	f := p.Fields(n, "an authentication")
	if f == nil {
		return nil
	}
	s.private = true
	a := &authentication{shared: shared{node: n}}
	f.Allow("use")
	var first *dialect.Node
	for _, key := range policyKeys {
		scheme := f.Get(key)
		switch {
		case scheme == nil:
		case first != nil:
			f.Both(first, scheme)
		default:
			first, a.scheme = scheme, key
			p.scheme(a, scheme, s)
		}
	}
	if first == nil && n.Get("certificate") != nil {
		p.Errorf(n.Get("certificate").Key, codeUnknownKey, "authentication by certificate is no longer part of the language")
		return nil
	}
	f.Done()
	if first == nil {
		if len(n.Members) == 0 || dialect.Suggest(n.Members[0].Name(), policyKeys) == "" {
			p.Errorf(n.KeySpan(), codeMissing, "%s needs one of %s", f.What, strings.Join(policyKeys, ", "))
		}
		return nil
	}
	return a
}

// schemeKeys are what may not stand beside the name of a secret.
var schemeKeys = map[string][]string{
	schemeBasic:  {"username", "password"},
	schemeDigest: {"username", "password"},
	schemeBearer: {"token"},
	schemeOAuth2: slices.Concat(oauth2Keys, []string{"endpoints"}),
	schemeOIDC:   oauth2Keys,
}

var oauth2Keys = []string{
	"authority", "grant", "client", "request", "issuers", "scopes", "audiences", "username", "password", "subject", "actor",
}

// scheme reads the properties of a scheme, or the name of the secret that has them.
func (p *parser) scheme(a *authentication, n *dialect.Node, s scope) {
	f := p.Fields(n, a.scheme)
	if f == nil {
		return
	}
	if n.Get("use") != nil {
		a.secret = f.OptionalName("use")
		if a.secret != nil && !p.secrets[a.secret.Text] {
			p.unknownSecret(a.secret, a.secret.Text)
		}
		for _, key := range schemeKeys[a.scheme] {
			if other := f.Get(key); other != nil {
				f.Both(f.Peek("use"), other)
			}
		}
		f.Done()
		return
	}
	f.Allow("use")
	switch a.scheme {
	case schemeBasic, schemeDigest:
		p.textValue(f.Need("username"), s)
		p.textValue(f.Need("password"), s)
	case schemeBearer:
		p.textValue(f.Need("token"), s)
	default:
		p.oauth2(f, a.scheme, s)
	}
	f.Done()
	a.properties = p.whole(n)
}

// The choices of oauth2 and oidc.
var (
	grants                = []string{"authorization_code", "client_credentials", "password", "refresh_token", "urn:ietf:params:oauth:grant-type:token-exchange"}
	clientAuthentications = []string{"client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"}
	tokenEncodings        = []string{"application/x-www-form-urlencoded", "application/json"}
)

// oauth2 reads what oauth2 and oidc have in common, and the endpoints of the former.
func (p *parser) oauth2(f *dialect.Fields, scheme string, s scope) {
	p.address(f.Need("authority"), s)
	if f.Peek("grant") == nil {
		f.Need("grant")
	} else {
		f.Choice("grant", grants...)
	}
	if client := p.Fields(f.Get("client"), "client"); client != nil {
		p.textValue(client.Get("id"), s)
		p.textValue(client.Get("secret"), s)
		p.textValue(client.Get("assertion"), s)
		client.Choice("authentication", clientAuthentications...)
		client.Done()
	}
	if request := p.Fields(f.Get("request"), "request"); request != nil {
		request.Choice("encoding", tokenEncodings...)
		request.Done()
	}
	for _, key := range []string{"issuers", "scopes", "audiences"} {
		items, _ := f.List(key)
		for _, item := range items {
			p.listedText(item, key, s)
		}
	}
	p.textValue(f.Get("username"), s)
	p.textValue(f.Get("password"), s)
	for _, key := range []string{"subject", "actor"} {
		if token := p.Fields(f.Get(key), key); token != nil {
			p.textValue(token.Need("token"), s)
			p.textValue(token.Need("type"), s)
			token.Done()
		}
	}
	if scheme != schemeOAuth2 {
		return
	}
	if endpoints := p.Fields(f.Get("endpoints"), "endpoints"); endpoints != nil {
		for _, key := range []string{"token", "revocation", "introspection"} {
			p.address(endpoints.Get(key), s)
		}
		endpoints.Done()
	}
}

// listedText reads an item of a list of texts.
func (p *parser) listedText(n *dialect.Node, list string, s scope) {
	if p.Is(n, expr.KindString, "an item of "+list) {
		p.template(n, s)
	}
}
