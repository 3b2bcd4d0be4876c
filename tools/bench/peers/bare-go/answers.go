package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	redirectURI = "https://client.example/callback"
	hour        = int64(3_600_000)
	days        = 720 * hour
	provider    = "accounts"

	readClient = `SELECT client_id, name, redirect_uris, scope, grants, is_public, secret_hash, previous_secret_hash,
  previous_secret_expires_at, created_at, revoked_at, id_token_alg FROM oauth_clients WHERE client_id = ?`
	readToken = `SELECT t.secret_hash, t.client_id, t.family_id, t.scope, t.audience AS token_audience, t.issued_at,
    t.expires_at, c.scope AS living_client_scope, f.id AS living_family_id, f.user_provider, f.user_id, f.subject,
    f.audience
  FROM oauth_access_tokens t
  LEFT JOIN oauth_clients c ON c.client_id = t.client_id AND c.revoked_at IS NULL
  LEFT JOIN oauth_families f ON f.id = t.family_id AND f.revoked_at IS NULL
  WHERE t.id = ?`
	readFamily = `SELECT f.id, f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, f.expires_at,
    f.code_hash, f.code_parameters, f.code_expires_at, f.code_spent_at, f.refresh_mark_hash, f.refresh_hash,
    f.refresh_generation, f.refresh_expires_at
  FROM oauth_families f WHERE f.id = ?`
	readAccount = `SELECT id, email, email_verified, name, password_hash, active FROM host_accounts
  WHERE provider = ? AND id = ?`
	readPermission = `SELECT permission FROM host_account_permissions
  WHERE provider = ? AND account_id = ? AND permission = ?`
	readSession = `SELECT * FROM host_sessions WHERE id_hash = ? AND expires_at > ?`
	readSubject = `SELECT user_provider, user_id, subject FROM oauth_subjects WHERE user_provider = ? AND user_id = ?`
	readRequest = `SELECT id_hash, browser_hash, client_id, parameters, audience, user_provider, user_id,
  asked_scope, outcome, expires_at FROM oauth_consent_requests WHERE id_hash = ?`
	keepRequest = `INSERT INTO oauth_consent_requests (id_hash, browser_hash, client_id, parameters, audience,
  user_provider, user_id, asked_scope, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	refreshState = `refresh_hash = ?, refresh_mark_hash = ?, refresh_generation = ?, refresh_expires_at = ?,
  expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END,
  prune_after = CASE WHEN prune_after >= ? THEN prune_after ELSE ? END`
)

var (
	accessTokens = newRow{
		table:   "oauth_access_tokens",
		columns: []string{"id", "secret_hash", "client_id", "family_id", "scope", "audience"},
		times:   []string{"issued_at", "expires_at"},
	}
	addToken = accessTokens.insert()
	useToken = newPair(`UPDATE oauth_families SET `+refreshState+`
    WHERE id = ? AND refresh_hash = ? AND revoked_at IS NULL`, accessTokens)
	spendCode = newPair(`UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL, `+refreshState+`
    WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL AND revoked_at IS NULL`, accessTokens)
	allowRequest = newPair(`UPDATE oauth_consent_requests SET outcome = 'allowed'
    WHERE id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ? AND outcome IS NULL`, newRow{
		table: "oauth_families",
		columns: []string{"id", "client_id", "user_provider", "user_id", "subject", "scope", "audience", "code_hash",
			"code_parameters"},
		times: []string{"created_at", "expires_at", "prune_after", "code_expires_at"},
	})
)

type handler struct {
	store  store
	keys   map[string]signer
	issuer string
}

func answers(store store, keys map[string]signer, issuer string) http.Handler {
	h := &handler{store, keys, issuer}
	document, _ := json.Marshal(map[string]any{"issuer": issuer, "keys": []any{}, "filler": strings.Repeat("x", 1000)})
	fixed := func(w http.ResponseWriter, _ *http.Request) { sendText(w, "application/json", document) }
	table := map[string]http.HandlerFunc{
		"POST /oauth/token":                     h.token,
		"POST /oauth/introspect":                h.introspect,
		"GET /oauth/userinfo":                   h.userinfo,
		"GET /protected":                        h.protected,
		"GET /oauth/authorize":                  h.authorize,
		"POST /oauth/authorize":                 h.allow,
		"GET /.well-known/openid-configuration": fixed,
		"GET /.well-known/jwks.json":            fixed,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, found := table[r.Method+" "+r.URL.Path]; found {
			answer(w, r)
		} else {
			http.NotFound(w, r)
		}
	})
}

func now() int64 { return time.Now().UnixMilli() }

// numberIn returns a whole number. PostgreSQL has several types of them.
func numberIn(found value) int64 {
	switch number := found.(type) {
	case int64:
		return number
	case int32:
		return int64(number)
	case int16:
		return int64(number)
	}
	return 0
}

// idIn returns the part of the token before the first dot.
func idIn(token string) string {
	id, _, _ := strings.Cut(token, ".")
	return id
}

func sendText(w http.ResponseWriter, kind string, text []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

func send(w http.ResponseWriter, body any) {
	text, err := json.Marshal(body)
	check(err)
	sendText(w, "application/json", text)
}

func clientOf(r *http.Request) string {
	id, _, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	return id
}

func bearerOf(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// person reads the current state of the account and its permission.
func person(reads reads, id value) row {
	account := reads.first(readAccount, provider, id)
	reads.first(readPermission, provider, id, "notes:read")
	return account
}

type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Scope     string `json:"scope"`
	Refresh   string `json:"refresh_token,omitempty"`
	ID        string `json:"id_token,omitempty"`
}

func (h *handler) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	reads := h.store.read()
	client := reads.first(readClient, clientOf(r))
	grant := r.PostForm.Get("grant_type")
	if grant == "client_credentials" {
		reads.end()
		at, scope := now(), "notes:read"
		made := orderedID(at) + "." + randomToken()
		h.store.write(addToken, idIn(made), hashOf(made), client["client_id"], nil, scope, nil, at, at+hour)
		send(w, tokens{Access: made, Type: "Bearer", ExpiresIn: 3600, Scope: scope})
		return
	}
	algorithm := "RS256"
	if client["id_token_alg"] == "ES256" {
		algorithm = "ES256"
	}
	if grant == "refresh_token" {
		send(w, h.exchange(reads, useToken, r.PostForm.Get("refresh_token"), nil, algorithm))
	} else {
		send(w, h.exchange(reads, spendCode, r.PostForm.Get("code"), []value{now()}, algorithm))
	}
}

// exchange uses up the code or refresh token of a family. The parameters in `before` come before
// those of the new refresh token.
func (h *handler) exchange(reads reads, use *pair, offered string, before []value, algorithm string) tokens {
	found := reads.first(readFamily, idIn(offered))
	scope, _ := found["scope"].(string)
	openID := strings.Contains(scope, "openid")
	if openID {
		person(reads, found["user_id"])
	} else {
		reads.first(readAccount, provider, found["user_id"])
	}
	reads.end()
	at := now()
	access, mark := orderedID(at)+"."+randomToken(), randomToken()
	generation := numberIn(found["refresh_generation"]) + 1
	family, _ := found["id"].(string)
	refresh := family + "." + mark + "." + strconv.FormatInt(generation, 10) + "." + randomToken()
	made := tokens{Access: access, Type: "Bearer", ExpiresIn: 3600, Scope: scope, Refresh: refresh}
	if openID {
		made.ID = idToken(h.keys[algorithm], algorithm, map[string]any{
			"iss": h.issuer, "sub": found["subject"], "aud": found["client_id"], "iat": at, "exp": at + hour,
		})
	}
	expires := at + days
	claim := append(before, hashOf(refresh), hashOf(mark), generation, expires, expires, expires, expires,
		expires+days/60, family, hashOf(offered))
	h.store.claimAndInsert(use, claim,
		[]value{idIn(access), hashOf(access), found["client_id"], family, scope, nil, at, at + hour})
	return made
}

func (h *handler) introspect(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	reads := h.store.read()
	reads.first(readClient, clientOf(r))
	found := reads.first(readToken, idIn(r.PostForm.Get("token")))
	person(reads, found["user_id"])
	reads.end()
	send(w, map[string]any{
		"active": true, "scope": found["scope"], "client_id": found["client_id"], "token_type": "Bearer",
		"exp": found["expires_at"], "iat": found["issued_at"], "iss": h.issuer, "sub": found["subject"],
	})
}

func (h *handler) userinfo(w http.ResponseWriter, r *http.Request) {
	reads := h.store.read()
	found := reads.first(readToken, idIn(bearerOf(r)))
	account := person(reads, found["user_id"])
	reads.end()
	send(w, map[string]any{
		"name": account["name"], "email": account["email"], "email_verified": numberIn(account["email_verified"]) == 1,
		"sub": found["subject"],
	})
}

func (h *handler) protected(w http.ResponseWriter, r *http.Request) {
	reads := h.store.read()
	found := reads.first(readToken, idIn(bearerOf(r)))
	account := person(reads, found["user_id"])
	reads.end()
	send(w, map[string]any{"user": account["id"]})
}

// authorize does the same as Portico: it finds out who is signed in and what the request asks for,
// and then sends the page.
func (h *handler) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	reads := h.store.read()
	client := reads.first(readClient, query.Get("client_id"))
	reads.first(readSession, hashOf(r.Header.Get("Cookie")), now())
	account := reads.first("SELECT id FROM host_accounts LIMIT 1")
	person(reads, account["id"])
	reads.end()
	id, parameters := randomToken(), map[string]string{}
	for name := range query {
		parameters[name] = query.Get(name)
	}
	text, _ := json.Marshal(parameters)
	h.store.write(keepRequest, hashOf(id), hashOf(id), client["client_id"], string(text), nil, provider, account["id"],
		query.Get("scope"), now()+hour)
	sendText(w, "text/html; charset=utf-8", []byte(`<!doctype html><form method="post" action="/oauth/authorize">`+
		`<input type="hidden" name="request_id" value="`+id+`"><button name="decision" value="allow">Allow</button></form>`))
}

func (h *handler) allow(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	hash, at := hashOf(r.PostForm.Get("request_id")), now()
	reads := h.store.read()
	reads.first(readSession, hashOf(r.Header.Get("Cookie")), at)
	asked := reads.first(readRequest, hash)
	reads.first(readClient, asked["client_id"])
	person(reads, asked["user_id"])
	subject, found := reads.first(readSubject, provider, asked["user_id"])["subject"]
	reads.end()
	if !found {
		subject = randomToken()
	}
	family := orderedID(at)
	code, expires := family+"."+randomToken(), at+60_000
	h.store.claimAndInsert(allowRequest, []value{hash, provider, asked["user_id"], at}, []value{
		family, asked["client_id"], provider, asked["user_id"], subject, asked["asked_scope"], nil, hashOf(code),
		asked["parameters"], at, expires, expires, expires,
	})
	var parameters struct{ State string }
	text, _ := asked["parameters"].(string)
	_ = json.Unmarshal([]byte(text), &parameters)
	w.Header().Set("Location", redirectURI+"?code="+code+"&state="+parameters.State+"&iss="+h.issuer)
	w.WriteHeader(http.StatusSeeOther)
}
