package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	accessTTL  = time.Hour
	refreshTTL = 30 * 24 * time.Hour
	requestTTL = time.Hour
)

const schema = `
CREATE TABLE clients (id TEXT PRIMARY KEY, name TEXT NOT NULL, secret_hash TEXT NOT NULL, redirect_uri TEXT NOT NULL,
  grants TEXT NOT NULL, scopes TEXT NOT NULL);
CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password_hash TEXT NOT NULL);
CREATE TABLE sessions (id_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, expires_at BIGINT NOT NULL);
CREATE TABLE auth_requests (id TEXT PRIMARY KEY, client_id TEXT NOT NULL, redirect_uri TEXT NOT NULL, state TEXT NOT NULL,
  nonce TEXT NOT NULL, scopes TEXT NOT NULL, response_type TEXT NOT NULL, challenge TEXT NOT NULL,
  challenge_method TEXT NOT NULL, expires_at BIGINT NOT NULL, user_id TEXT, auth_time BIGINT, code_hash TEXT UNIQUE);
CREATE TABLE access_tokens (id TEXT PRIMARY KEY, client_id TEXT NOT NULL, subject TEXT NOT NULL, audience TEXT NOT NULL,
  scopes TEXT NOT NULL, expires_at BIGINT NOT NULL);
CREATE TABLE refresh_tokens (hash TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_id TEXT NOT NULL, scopes TEXT NOT NULL,
  auth_time BIGINT NOT NULL, expires_at BIGINT NOT NULL);`

const (
	addUser     = `INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, $3, $4)`
	addClient   = `INSERT INTO clients (id, name, secret_hash, redirect_uri, grants, scopes) VALUES ($1, $2, $3, $4, $5, $6)`
	readClient  = `SELECT secret_hash, redirect_uri, grants, scopes FROM clients WHERE id = $1`
	addSession  = `INSERT INTO sessions (id_hash, user_id, expires_at) VALUES ($1, $2, $3)`
	readSession = `SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id_hash = $1 AND s.expires_at > $2`
	readByEmail = `SELECT id, password_hash FROM users WHERE email = $1`
	addRequest  = `INSERT INTO auth_requests (id, client_id, redirect_uri, state, nonce, scopes, response_type, challenge,
  challenge_method, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	request = `SELECT id, client_id, redirect_uri, state, nonce, scopes, response_type, challenge, challenge_method,
  COALESCE(user_id, ''), COALESCE(auth_time, 0) FROM auth_requests `
	readRequest       = request + `WHERE id = $1 AND expires_at > $2`
	readRequestByCode = request + `WHERE code_hash = $1 AND expires_at > $2`
	readAsked         = `SELECT c.name, r.scopes FROM auth_requests r JOIN clients c ON c.id = r.client_id
  WHERE r.id = $1 AND r.expires_at > $2`
	allowRequest = `UPDATE auth_requests SET user_id = $1, auth_time = $2 WHERE id = $3 AND user_id IS NULL`
	saveCode     = `UPDATE auth_requests SET code_hash = $1, expires_at = $2 WHERE id = $3 AND code_hash IS NULL`
	readRefresh  = `SELECT r.client_id, r.user_id, r.scopes, r.auth_time FROM refresh_tokens r
  JOIN users u ON u.id = r.user_id WHERE r.hash = $1 AND r.expires_at > $2`
	readToken = `SELECT t.client_id, t.subject, t.audience, t.scopes, t.expires_at, COALESCE(u.email, ''), COALESCE(u.name, '')
  FROM access_tokens t LEFT JOIN users u ON u.id = t.subject WHERE t.id = $1 AND t.expires_at > $2`
	addAccess = `INSERT INTO access_tokens (id, client_id, subject, audience, scopes, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)`
)

// storage implements the library's interface. It reads the current client, token and user for each
// request and caches nothing but the keys.
type storage struct {
	database
	keys keys
}

var (
	_ op.Storage                  = (*storage)(nil)
	_ op.ClientCredentialsStorage = (*storage)(nil)
)

var errWrongSecret = errors.New("wrong client or secret")

// hashOf is enough for secrets of 256 random bits: they cannot be guessed, so a slow hash protects
// nothing more.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func sameText(one, other string) bool {
	return subtle.ConstantTimeCompare([]byte(one), []byte(other)) == 1
}

func now() int64 { return time.Now().Unix() }

func (s *storage) client(ctx context.Context, id string) (*client, error) {
	found := &client{id: id}
	var grants, scopes string
	err := s.row(ctx, readClient, id).Scan(&found.secretHash, &found.redirectURI, &grants, &scopes)
	if err != nil {
		return nil, err
	}
	found.scopes = strings.Fields(scopes)
	for _, grant := range strings.Fields(grants) {
		found.grants = append(found.grants, oidc.GrantType(grant))
	}
	return found, nil
}

func (s *storage) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	return s.client(ctx, id)
}

func (s *storage) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	found, err := s.client(ctx, id)
	if err != nil || !sameText(found.secretHash, hashOf(secret)) {
		return nil, oidc.ErrInvalidClient().WithParent(errWrongSecret)
	}
	return found, nil
}

func (s *storage) AuthorizeClientIDSecret(ctx context.Context, id, secret string) error {
	_, err := s.ClientCredentials(ctx, id, secret)
	return err
}

func (s *storage) ClientCredentialsTokenRequest(ctx context.Context, id string, scopes []string) (op.TokenRequest, error) {
	for _, scope := range scopes {
		if scope != "notes:read" {
			return nil, oidc.ErrInvalidScope()
		}
	}
	return &grant{clientID: id, subject: id, scopes: scopes}, nil
}

func (s *storage) CreateAuthRequest(ctx context.Context, asked *oidc.AuthRequest, user string) (op.AuthRequest, error) {
	// PKCE is required, as by the other targets.
	if asked.CodeChallenge == "" {
		return nil, oidc.ErrInvalidRequest().WithDescription("code_challenge missing")
	}
	made := &authRequest{
		grant: grant{clientID: asked.ClientID, scopes: asked.Scopes}, id: randomText(), redirectURI: asked.RedirectURI,
		state: asked.State, nonce: asked.Nonce, responseType: asked.ResponseType,
		challenge: oidc.CodeChallenge{Challenge: asked.CodeChallenge, Method: asked.CodeChallengeMethod},
	}
	_, err := s.exec(ctx, addRequest, made.id, made.clientID, made.redirectURI, made.state, made.nonce,
		strings.Join(made.scopes, " "), string(made.responseType), made.challenge.Challenge,
		string(made.challenge.Method), now()+int64(requestTTL.Seconds()))
	return made, err
}

func (s *storage) authRequest(ctx context.Context, sql, key string) (op.AuthRequest, error) {
	r := &authRequest{}
	var scopes, kind, method string
	err := s.row(ctx, sql, key, now()).Scan(&r.id, &r.clientID, &r.redirectURI, &r.state, &r.nonce, &scopes, &kind,
		&r.challenge.Challenge, &method, &r.subject, &r.authTime)
	if err != nil {
		return nil, err
	}
	r.scopes, r.responseType = strings.Fields(scopes), oidc.ResponseType(kind)
	r.challenge.Method = oidc.CodeChallengeMethod(method)
	return r, nil
}

func (s *storage) AuthRequestByID(ctx context.Context, id string) (op.AuthRequest, error) {
	return s.authRequest(ctx, readRequest, id)
}

func (s *storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	return s.authRequest(ctx, readRequestByCode, hashOf(code))
}

// one runs a statement that must change one row.
func (s *storage) one(ctx context.Context, sql string, parameters ...any) error {
	changed, err := s.exec(ctx, sql, parameters...)
	if err == nil && changed != 1 {
		return errors.New("the request has ended")
	}
	return err
}

func (s *storage) SaveAuthCode(ctx context.Context, id, code string) error {
	return s.one(ctx, saveCode, hashOf(code), now()+60, id)
}

// DeleteAuthRequest has nothing to do: the request is deleted with the creation of its tokens.
func (s *storage) DeleteAuthRequest(context.Context, string) error { return nil }

func (s *storage) CreateAccessToken(ctx context.Context, asked op.TokenRequest) (string, time.Time, error) {
	found, ok := asked.(*grant)
	if !ok {
		return "", time.Time{}, oidc.ErrInvalidScope().WithDescription("offline_access missing")
	}
	id, expires := randomText(), time.Now().Add(accessTTL)
	_, err := s.exec(ctx, addAccess, id, found.clientID, found.subject, inspector,
		strings.Join(found.scopes, " "), expires.Unix())
	return id, expires, err
}

// CreateAccessAndRefreshTokens uses up the code or the refresh token in the same transaction.
func (s *storage) CreateAccessAndRefreshTokens(ctx context.Context, asked op.TokenRequest, current string) (string, string, time.Time, error) {
	id, refresh := randomText(), randomText()
	at := time.Now()
	tokens := newTokens{id: id, hash: hashOf(refresh), expires: at.Add(accessTTL).Unix(), refreshExpires: at.Add(refreshTTL).Unix()}
	switch found := asked.(type) {
	case *authRequest:
		tokens.grant, tokens.usedTable, tokens.used = found.grant, usesRequest, found.id
	case *refreshRequest:
		tokens.grant, tokens.usedTable, tokens.used = found.grant, usesRefresh, hashOf(current)
	default:
		return "", "", time.Time{}, oidc.ErrInvalidGrant()
	}
	used, err := s.exchange(ctx, tokens)
	if err == nil && !used {
		err = oidc.ErrInvalidGrant()
	}
	return id, refresh, time.Unix(tokens.expires, 0), err
}

func (s *storage) TokenRequestByRefreshToken(ctx context.Context, token string) (op.RefreshTokenRequest, error) {
	found := &refreshRequest{}
	var scopes string
	err := s.row(ctx, readRefresh, hashOf(token), now()).Scan(&found.clientID, &found.subject, &scopes, &found.authTime)
	found.scopes = strings.Fields(scopes)
	return found, err
}

type token struct {
	clientID, subject, audience, email, name string
	scopes                                   []string
	expires                                  int64
}

func (s *storage) token(ctx context.Context, id string) (token, error) {
	var found token
	var scopes string
	err := s.row(ctx, readToken, id, now()).Scan(&found.clientID, &found.subject, &found.audience, &scopes,
		&found.expires, &found.email, &found.name)
	found.scopes = strings.Fields(scopes)
	return found, err
}

func (t token) describe(info *oidc.UserInfo) {
	info.Subject = t.subject
	if slices.Contains(t.scopes, oidc.ScopeEmail) {
		info.Email, info.EmailVerified = t.email, true
	}
	if slices.Contains(t.scopes, oidc.ScopeProfile) {
		info.Name = t.name
	}
}

func (s *storage) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, id, _, _ string) error {
	found, err := s.token(ctx, id)
	if err != nil {
		return err
	}
	found.describe(info)
	return nil
}

func (s *storage) SetIntrospectionFromToken(ctx context.Context, answer *oidc.IntrospectionResponse, id, _, clientID string) error {
	found, err := s.token(ctx, id)
	if err != nil {
		return err
	}
	if found.audience != clientID {
		return errors.New("the token is not for this client")
	}
	answer.Subject, answer.ClientID, answer.Scope = found.subject, found.clientID, found.scopes
	answer.Expiration, answer.TokenType = oidc.FromTime(time.Unix(found.expires, 0)), oidc.BearerToken
	return nil
}

func (s *storage) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

func (s *storage) userOfSession(ctx context.Context, session string) (string, error) {
	var user string
	err := s.row(ctx, readSession, hashOf(session), now()).Scan(&user)
	return user, err
}

// signIn happens once for each connection and is not measured, so the password has a fast hash.
func (s *storage) signIn(ctx context.Context, email, password string) (string, error) {
	var user, hash string
	if err := s.row(ctx, readByEmail, email).Scan(&user, &hash); err != nil {
		return "", err
	}
	if !sameText(hash, hashOf(password)) {
		return "", errors.New("wrong password")
	}
	session := randomText()
	_, err := s.exec(ctx, addSession, hashOf(session), user, now()+int64(sessionTTL.Seconds()))
	return session, err
}

func (s *storage) asked(ctx context.Context, id string) (client string, scopes []string, err error) {
	var text string
	err = s.row(ctx, readAsked, id, now()).Scan(&client, &text)
	return client, strings.Fields(text), err
}

func (s *storage) allow(ctx context.Context, id, user string) error {
	return s.one(ctx, allowRequest, user, now(), id)
}

func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return signingKey{s.keys}, nil }

func (s *storage) KeySet(context.Context) ([]op.Key, error) {
	return []op.Key{publicKey{s.keys}}, nil
}

func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

func (s *storage) Health(context.Context) error { return nil }

// No client of the benchmarks uses what follows.

func (s *storage) TerminateSession(context.Context, string, string) error { return nil }

func (s *storage) RevokeToken(context.Context, string, string, string) *oidc.Error {
	return oidc.ErrServerError()
}

func (s *storage) GetRefreshTokenInfo(context.Context, string, string) (string, string, error) {
	return "", "", op.ErrInvalidRefreshToken
}

func (s *storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

func (s *storage) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errors.New("unknown key")
}

func (s *storage) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, errors.New("unsupported")
}
