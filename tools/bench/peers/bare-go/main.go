// The bare limit in Go: net/http, and the statements of targets/bare.ts on Portico's schema and
// data. Like bare.ts, it does not report errors, check rules or compute slow hashes. Compared with
// bare.ts, it shows what the runtime costs and what the database costs.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	store, err := openStore(os.Getenv("BENCH_DATABASE"))
	check(err)
	keys, err := readKeys(os.Getenv("BENCH_DIRECTORY"))
	check(err)
	address := "127.0.0.1:" + os.Getenv("BENCH_PORT")
	check(http.ListenAndServe(address, answers(store, keys, "http://"+address)))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// signer signs the hash of an ID token.
type signer func(hash []byte) []byte

// jwk is a private key as Portico stores it.
type jwk struct {
	Alg, N, E, D, P, Q, X, Y string
}

func number(text string) *big.Int {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	check(err)
	return new(big.Int).SetBytes(bytes)
}

func (k jwk) signer() signer {
	if k.Alg == "RS256" {
		key := &rsa.PrivateKey{
			PublicKey: rsa.PublicKey{N: number(k.N), E: int(number(k.E).Int64())},
			D:         number(k.D),
			Primes:    []*big.Int{number(k.P), number(k.Q)},
		}
		key.Precompute()
		check(key.Validate())
		return func(hash []byte) []byte {
			signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, hash)
			check(err)
			return signature
		}
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), number(k.D).FillBytes(make([]byte, 32)))
	check(err)
	return func(hash []byte) []byte {
		r, s, err := ecdsa.Sign(rand.Reader, key, hash)
		check(err)
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature
	}
}

func readKeys(directory string) (map[string]signer, error) {
	files, err := filepath.Glob(filepath.Join(directory, "storage/oauth/keys/*.json"))
	if err != nil {
		return nil, err
	}
	keys := map[string]signer{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var key jwk
		if err := json.Unmarshal(text, &key); err != nil {
			return nil, err
		}
		keys[key.Alg] = key.signer()
	}
	return keys, nil
}

func idToken(sign signer, algorithm string, claims any) string {
	part := func(value any) string {
		text, err := json.Marshal(value)
		check(err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": algorithm}) + "." + part(claims)
	hash := sha256.Sum256([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(hash[:]))
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func randomToken() string {
	bytes := make([]byte, 32)
	_, _ = rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

// orderedID returns an id that grows with time, as Portico's ids do.
func orderedID(now int64) string {
	bytes := make([]byte, 10)
	_, _ = rand.Read(bytes)
	return fmt.Sprintf("%012x", now) + hex.EncodeToString(bytes)
}
