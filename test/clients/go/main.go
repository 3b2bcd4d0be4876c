// A client with the official Go SDK. ../typescript/program.ts describes its input and output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

var input = bufio.NewReader(os.Stdin)

func say(name, value string) {
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{name: value}); err != nil {
		log.Fatal(err)
	}
}

func line() (string, error) {
	text, err := input.ReadString('\n')
	return strings.TrimSpace(text), err
}

func authorize(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	say("authorize", args.URL)
	text, err := line()
	if err != nil {
		return nil, err
	}
	back, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	query := back.Query()
	if query.Get("code") == "" {
		return nil, errors.New(query.Get("error"))
	}
	return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
}

// tokens wraps the SDK's token source, which refreshes when its clock says that the token has
// expired. hour makes the token an hour older.
type tokens struct {
	mutex  sync.Mutex
	source oauth2.TokenSource
	renew  func(*oauth2.Token) oauth2.TokenSource
}

func (t *tokens) Token() (*oauth2.Token, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.source.Token()
}

func (t *tokens) hour() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	token, err := t.source.Token()
	if err != nil {
		return err
	}
	older := *token
	older.Expiry = token.Expiry.Add(-time.Hour)
	t.source = t.renew(&older)
	return nil
}

func main() {
	resource, redirectURI := os.Args[1], os.Args[2]
	var kept *tokens
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirectURI,
		AuthorizationCodeFetcher: authorize,
		RequestRefreshToken:      true,
		NewTokenSource: func(ctx context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			renew := func(token *oauth2.Token) oauth2.TokenSource { return config.TokenSource(ctx, token) }
			kept = &tokens{source: renew(token), renew: renew}
			return kept, nil
		},
	}
	if len(os.Args) > 3 {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: os.Args[3]}
	} else {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName:              "Go",
				RedirectURIs:            []string{redirectURI},
				GrantTypes:              []string{"authorization_code", "refresh_token"},
				TokenEndpointAuthMethod: "none",
			},
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: resource, OAuthHandler: handler}, nil)
	if err != nil {
		log.Fatal(err)
	}
	say("connected", session.InitializeResult().ProtocolVersion)
	for {
		command, err := line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if command == "hour" {
			if err := kept.hour(); err != nil {
				say("refused", err.Error())
			} else {
				say("answer", "")
			}
			continue
		}
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: strings.TrimPrefix(command, "call ")})
		if err != nil {
			say("refused", err.Error())
			continue
		}
		answer, err := json.Marshal(result)
		if err != nil {
			log.Fatal(err)
		}
		say("answer", string(answer))
	}
	_ = session.Close()
}
