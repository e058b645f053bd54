package server

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Schema is a JSON Schema that is served to editors.
type Schema struct {
	Names []string // it is served as /schemas/NAME.json under each
	Text  func() []byte
}

// noPage are the paths under which the page never is: they are for programs, which need a 404.
var noPage = []string{"/api", "/schemas", "/problems", "/download"}

// isPage reports whether a request without a route is for the page: for one of its files, or for its
// document by a browser. Programs get a 404.
func (s *Server) isPage(r *http.Request) bool {
	if s.cfg.Page == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if slices.ContainsFunc(noPage, func(prefix string) bool {
		return r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/")
	}) {
		return false
	}
	return s.cfg.PageFile != nil && s.cfg.PageFile(r.URL.Path) || acceptsHTML(r)
}

// acceptsHTML reports whether a client accepts text/html by name, as browsers do when they open a page.
func acceptsHTML(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			media, params, err := mime.ParseMediaType(part)
			if err != nil || media != "text/html" {
				continue
			}
			if q, err := strconv.ParseFloat(params["q"], 64); err != nil || q > 0 {
				return true
			}
		}
	}
	return false
}

// pageRoute stands for the page in metrics and logs.
var pageRoute = &route{method: "GET", operation: "page", cost: free}

func (s *Server) getSchema(w http.ResponseWriter, r *request) error {
	file := r.PathValue("schema")
	name, isJSON := strings.CutSuffix(file, ".json")
	var names []string
	for _, schema := range s.cfg.Schemas {
		if isJSON && slices.Contains(schema.Names, name) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*") // for editors in browsers; it is not secret
			h.Set("Cache-Control", "no-cache")
			return answerText(w, http.StatusOK, "application/schema+json", schema.Text())
		}
		names = append(names, schema.Names[0]+".json")
	}
	p := problem(api.CodeNotFound, fmt.Sprintf("there is no schema %.100q", file)).hint("there are " + strings.Join(names, ", "))
	if near := dialect.Suggest(file, names); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}

// sessionCookie holds the token of a page where scripts cannot read it. It is valid on this side only,
// and for changes only with the page's own origin.
const sessionCookie = "lockstep-session"

// cookieName differs by port, which cookies ignore: there may be several servers on one machine.
func cookieName(r *http.Request) string {
	at := url.URL{Host: r.Host}
	if port := at.Port(); port != "" {
		return sessionCookie + "-" + port
	}
	return sessionCookie
}

// identify returns the sender of a request: by its token, or by the token in its cookie.
func (s *Server) identify(r *http.Request) (identity, error) {
	if s.cfg.Tokens == nil || len(r.Header.Values("Authorization")) > 0 {
		return s.cfg.Tokens.identify(r)
	}
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return s.cfg.Tokens.identify(r)
	}
	who, ok := s.cfg.Tokens.find(cookie.Value)
	if !ok {
		return identity{}, problem(api.CodeUnauthorized, "the token of this session is no longer valid").hint("enter another")
	}
	who.cookie = true
	return who, nil
}

// getSession returns the identity of the page's user, or that a token is needed.
func (s *Server) getSession(w http.ResponseWriter, r *request) error {
	v := api.Session{Needed: s.cfg.Tokens != nil}
	if who, err := s.identify(r.Request); err == nil {
		v.Name, v.Role = who.name, string(who.role)
	}
	return answer(w, http.StatusOK, v)
}

func (s *Server) openSession(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "token")
	if err != nil {
		return err
	}
	token := body.Name("token")
	if wrong, ok := errors.AsType[*dialect.MemberError](body.Err()); ok {
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	if s.cfg.Tokens == nil {
		return answer(w, http.StatusOK, api.Session{Name: anonymous.name, Role: string(anonymous.role)})
	}
	who, ok := s.cfg.Tokens.find(token)
	if !ok {
		return problem(api.CodeUnauthorized, "unknown token").hint("the administrator of the server makes tokens: lockstep token new")
	}
	s.setSession(w, r, token, 0)
	return answer(w, http.StatusOK, api.Session{Needed: true, Name: who.name, Role: string(who.role)})
}

func (s *Server) closeSession(w http.ResponseWriter, r *request) error {
	s.setSession(w, r, "", -1)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) setSession(w http.ResponseWriter, r *request, token string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r.Request), Value: token, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}
