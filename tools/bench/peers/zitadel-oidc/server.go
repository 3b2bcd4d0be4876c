package main

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// server replaces two methods of the library's server. The library means them to be replaced.
type server struct {
	*op.LegacyServer
	storage *storage
}

// VerifyClient reads the client once. The library would read it twice.
func (s *server) VerifyClient(ctx context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	return s.storage.ClientCredentials(ctx, r.Data.ClientID, r.Data.ClientSecret)
}

// RefreshToken issues an ID token only for the scope `openid`. The library would always sign one.
func (s *server) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	request, err := op.RefreshTokenRequestByRefreshToken(ctx, s.storage, r.Data.RefreshToken)
	if err != nil {
		return nil, err
	}
	if r.Client.GetID() != request.GetClientID() {
		return nil, oidc.ErrInvalidGrant()
	}
	if err := op.ValidateRefreshTokenScopes(r.Data.Scopes, request); err != nil {
		return nil, err
	}
	if slices.Contains(request.GetScopes(), oidc.ScopeOpenID) {
		answer, err := op.CreateTokenResponse(ctx, request, r.Client, s.Provider(), true, "", r.Data.RefreshToken)
		if err != nil {
			return nil, err
		}
		return op.NewResponse(answer), nil
	}
	access, refresh, validity, err := op.CreateAccessToken(ctx, request, r.Client.AccessTokenType(), s.Provider(), r.Client, r.Data.RefreshToken)
	if err != nil {
		return nil, err
	}
	return op.NewResponse(&oidc.AccessTokenResponse{
		AccessToken:  access,
		RefreshToken: refresh,
		TokenType:    oidc.BearerToken,
		ExpiresIn:    uint64(validity.Seconds()),
		Scope:        request.GetScopes(),
	}), nil
}

func newHandler(storage *storage, issuer string) (http.Handler, error) {
	config := &op.Config{
		CryptoKey:             storage.keys.tokens,
		CryptoKeyId:           "tokens",
		CodeMethodS256:        true,
		GrantTypeRefreshToken: true,
		SupportedScopes:       strings.Fields(openIDScope),
	}
	provider, err := op.NewProvider(config, storage, op.StaticIssuer(issuer), op.WithAllowInsecure())
	if err != nil {
		return nil, err
	}
	legacy := op.NewLegacyServer(provider, *op.DefaultEndpoints)
	pages := &pages{storage, provider, legacy.AuthCallbackURL()}
	protection := http.NewCrossOriginProtection()
	withIssuer := op.NewIssuerInterceptor(provider.IssuerFromRequest)
	router := http.NewServeMux()
	router.HandleFunc("GET "+loginPath, pages.show)
	router.Handle("POST "+loginPath, protection.Handler(withIssuer.HandlerFunc(pages.submit)))
	router.HandleFunc("GET /protected", pages.protected)
	router.Handle("/", op.RegisterLegacyServer(&server{legacy, storage}, op.AuthorizeCallbackHandler(provider)))
	return router, nil
}

const (
	loginPath  = "/login"
	cookieName = "session"
	sessionTTL = 14 * 24 * time.Hour
)

// pages are the sign-in and consent pages, and an endpoint of the application's own API.
type pages struct {
	storage  *storage
	provider *op.Provider
	callback func(context.Context, string) string
}

var signIn = template.Must(template.New("sign-in").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench</title><body><h1>Sign in</h1>
<form method="post" action="/login"><input type="hidden" name="id" value="{{.ID}}">
<label>E-mail <input type="email" name="email" required></label>
<label>Password <input type="password" name="password" required></label>
<button>Sign in</button></form></body></html>`))

var consent = template.Must(template.New("consent").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench</title><body><h1>{{.Client}} asks for access</h1>
<ul>{{range .Scopes}}<li>{{.}}</li>{{end}}</ul>
<form method="post" action="/login"><input type="hidden" name="id" value="{{.ID}}">
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></form></body></html>`))

type page struct {
	ID, Client string
	Scopes     []string
}

// userOf returns the person who is signed in, or an empty text.
func (p *pages) userOf(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	user, err := p.storage.userOfSession(r.Context(), cookie.Value)
	if err != nil {
		return ""
	}
	return user
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	p.render(w, r, r.URL.Query().Get("id"))
}

func (p *pages) render(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if p.userOf(r) == "" {
		_ = signIn.Execute(w, page{ID: id})
		return
	}
	client, scopes, err := p.storage.asked(r.Context(), id)
	if err != nil {
		http.Error(w, "This request has ended.", http.StatusBadRequest)
		return
	}
	_ = consent.Execute(w, page{id, client, scopes})
}

func (p *pages) submit(w http.ResponseWriter, r *http.Request) {
	id := r.PostFormValue("id")
	if r.PostFormValue("decision") == "" {
		session, err := p.storage.signIn(r.Context(), r.PostFormValue("email"), r.PostFormValue("password"))
		if err == nil {
			http.SetCookie(w, &http.Cookie{
				Name: cookieName, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
		}
		http.Redirect(w, r, loginPath+"?id="+id, http.StatusSeeOther)
		return
	}
	user := p.userOf(r)
	if user == "" {
		http.Redirect(w, r, loginPath+"?id="+id, http.StatusSeeOther)
		return
	}
	if r.PostFormValue("decision") != "allow" {
		request, err := p.storage.AuthRequestByID(r.Context(), id)
		if err == nil {
			err = oidc.ErrAccessDenied()
		}
		op.AuthRequestError(w, r, request, err, p.provider)
		return
	}
	if err := p.storage.allow(r.Context(), id, user); err != nil {
		http.Error(w, "This request has ended.", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, p.callback(r.Context(), id), http.StatusSeeOther)
}

func (p *pages) protected(w http.ResponseWriter, r *http.Request) {
	user, err := p.bearer(r)
	if err != nil {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"user": user})
}

func (p *pages) bearer(r *http.Request) (string, error) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return "", errors.New("no token")
	}
	text, err := p.provider.Crypto().Decrypt(token)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(text, ":")
	read, err := p.storage.token(r.Context(), id)
	if err == nil && !slices.Contains(read.scopes, "notes:read") {
		err = errors.New("insufficient scope")
	}
	return read.subject, err
}
