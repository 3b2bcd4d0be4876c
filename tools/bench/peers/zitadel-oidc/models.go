package main

import (
	"slices"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// client implements op.Client.
type client struct {
	id, secretHash, redirectURI string
	scopes                      []string
	grants                      []oidc.GrantType
}

func (c *client) GetID() string                       { return c.id }
func (c *client) RedirectURIs() []string              { return []string{c.redirectURI} }
func (c *client) PostLogoutRedirectURIs() []string    { return nil }
func (c *client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c *client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c *client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c *client) GrantTypes() []oidc.GrantType         { return c.grants }
func (c *client) LoginURL(id string) string            { return loginPath + "?id=" + id }
func (c *client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeBearer }
func (c *client) IDTokenLifetime() time.Duration       { return time.Hour }
func (c *client) DevMode() bool                        { return false }
func (c *client) IsScopeAllowed(scope string) bool     { return slices.Contains(c.scopes, scope) }
func (c *client) IDTokenUserinfoClaimsAssertion() bool { return false }
func (c *client) ClockSkew() time.Duration             { return 0 }
func unchanged(scopes []string) []string               { return scopes }
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return unchanged
}
func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return unchanged
}

// grant is what a client may do, for a person or for itself.
type grant struct {
	clientID, subject string
	scopes            []string
	authTime          int64
}

func (g *grant) GetSubject() string     { return g.subject }
func (g *grant) GetAudience() []string  { return []string{g.clientID} }
func (g *grant) GetScopes() []string    { return g.scopes }
func (g *grant) GetClientID() string    { return g.clientID }
func (g *grant) GetAMR() []string       { return []string{"pwd"} }
func (g *grant) GetAuthTime() time.Time { return time.Unix(g.authTime, 0) }

// refreshRequest implements op.RefreshTokenRequest.
type refreshRequest struct{ grant }

func (r *refreshRequest) SetCurrentScopes(scopes []string) { r.scopes = scopes }

// authRequest implements op.AuthRequest.
type authRequest struct {
	grant
	id, redirectURI, state, nonce string
	responseType                  oidc.ResponseType
	challenge                     oidc.CodeChallenge
}

func (r *authRequest) GetID() string                         { return r.id }
func (r *authRequest) GetACR() string                        { return "" }
func (r *authRequest) GetCodeChallenge() *oidc.CodeChallenge { return &r.challenge }
func (r *authRequest) GetNonce() string                      { return r.nonce }
func (r *authRequest) GetRedirectURI() string                { return r.redirectURI }
func (r *authRequest) GetResponseType() oidc.ResponseType    { return r.responseType }
func (r *authRequest) GetResponseMode() oidc.ResponseMode    { return "" }
func (r *authRequest) GetState() string                      { return r.state }
func (r *authRequest) Done() bool                            { return r.subject != "" }

type signingKey struct{ keys keys }

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k signingKey) Key() any                                    { return k.keys.signing }
func (k signingKey) ID() string                                  { return "signing" }

type publicKey struct{ keys keys }

func (k publicKey) ID() string                         { return "signing" }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.keys.signing.PublicKey }
