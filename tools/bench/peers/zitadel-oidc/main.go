// An OpenID Provider with github.com/zitadel/oidc, as a target of the benchmarks.
// `seed` creates the schema, the person, the keys and the clients, and prints them as JSON.
// `serve` listens on the loopback address until it is stopped.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	redirectURI = "https://client.example/callback"
	inspector   = "inspector"
	plainScope  = "offline_access notes:read"
	openIDScope = "openid profile email offline_access notes:read"
)

func main() {
	directory := os.Getenv("BENCH_DIRECTORY")
	port := os.Getenv("BENCH_PORT")
	database, err := openDatabase(os.Getenv("BENCH_DATABASE"))
	check(err)
	if len(os.Args) > 1 && os.Args[1] == "seed" {
		check(seed(database, directory))
		return
	}
	// The library logs each failed request. The other targets do not log requests.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	keys, err := readKeys(directory)
	check(err)
	handler, err := newHandler(&storage{database, keys}, "http://127.0.0.1:"+port)
	check(err)
	check(http.ListenAndServe("127.0.0.1:"+port, handler))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// keys are read once. A deployment would read them from its database at times.
type keys struct {
	signing *rsa.PrivateKey
	tokens  [32]byte
}

func keyFile(directory string) string { return filepath.Join(directory, "keys.pem") }

func writeKeys(directory string) error {
	signing, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(signing)
	if err != nil {
		return err
	}
	tokens := make([]byte, 32)
	_, _ = rand.Read(tokens)
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "TOKEN KEY", Bytes: tokens})...)
	return os.WriteFile(keyFile(directory), text, 0o600)
}

func readKeys(directory string) (keys, error) {
	text, err := os.ReadFile(keyFile(directory))
	if err != nil {
		return keys{}, err
	}
	first, rest := pem.Decode(text)
	second, _ := pem.Decode(rest)
	if first == nil || second == nil {
		return keys{}, fmt.Errorf("%s has no keys", keyFile(directory))
	}
	parsed, err := x509.ParsePKCS8PrivateKey(first.Bytes)
	if err != nil {
		return keys{}, err
	}
	found := keys{signing: parsed.(*rsa.PrivateKey)}
	copy(found.tokens[:], second.Bytes)
	return found, nil
}

type credentials struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

func randomText() string {
	bytes := make([]byte, 32)
	_, _ = rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func seed(database database, directory string) error {
	ctx := context.Background()
	if err := writeKeys(directory); err != nil {
		return err
	}
	if err := database.create(ctx, schema); err != nil {
		return err
	}
	_, err := database.exec(ctx, addUser, randomText(), "ada@example.com", "Ada Lovelace",
		hashOf("correct horse battery staple"))
	if err != nil {
		return err
	}
	register := func(id, uri, grants, scopes string) credentials {
		secret := randomText()
		_, failed := database.exec(ctx, addClient, id, "Bench", hashOf(secret), uri, grants, scopes)
		if failed != nil {
			err = failed
		}
		return credentials{id, secret}
	}
	seeded := map[string]any{
		"service":   register("service", "", "client_credentials", "notes:read"),
		"web":       register("web", redirectURI, "authorization_code refresh_token", "notes:read"),
		"webES256":  nil,
		"inspector": register(inspector, "", "", ""),
		"scopes":    map[string]string{"service": "notes:read", "plain": plainScope, "openid": openIDScope},
		"paths": map[string]string{
			"authorize":  op.DefaultEndpoints.Authorization.Relative(),
			"token":      op.DefaultEndpoints.Token.Relative(),
			"introspect": op.DefaultEndpoints.Introspection.Relative(),
			"userinfo":   op.DefaultEndpoints.Userinfo.Relative(),
			"protected":  "/protected",
			"discovery":  "/.well-known/openid-configuration",
			"keys":       op.DefaultEndpoints.JwksURI.Relative(),
		},
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seeded)
}
