//! A client with the official Rust SDK. ../typescript/program.ts describes its input and output.

use std::error::Error;

use rmcp::{
    ServiceExt,
    model::CallToolRequestParams,
    service::{RoleClient, RunningService},
    transport::{
        StreamableHttpClientTransport,
        auth::{
            AuthClient, AuthorizationCallback, AuthorizationManager, AuthorizationRequest,
            AuthorizationSession, CredentialStore, InMemoryCredentialStore, WWWAuthenticateParams,
        },
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};

type Failure = Box<dyn Error>;
type Client = AuthClient<reqwest::Client>;

struct Program {
    resource: String,
    redirect_uri: String,
    document: Option<String>,
    input: Lines<BufReader<Stdin>>,
    store: InMemoryCredentialStore,
}

fn say(name: &str, value: &str) {
    println!("{}", json!({ name: value }));
}

impl Program {
    /// Sends a person to this URL, and waits for the URL to which the browser returned.
    async fn ask(&mut self, url: &str) -> Result<AuthorizationCallback, Failure> {
        say("authorize", url);
        let back = self.input.next_line().await?.unwrap_or_default();
        Ok(AuthorizationCallback::from_redirect_url(&back)?)
    }

    async fn manager(&self) -> Result<AuthorizationManager, Failure> {
        let mut manager = AuthorizationManager::new(&self.resource).await?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    /// Follows the challenge to get tokens, and returns an HTTP client that uses them.
    async fn authorize(&mut self, challenge: &str) -> Result<Client, Failure> {
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(Some(challenge)).await?;
        manager.set_metadata(found.metadata);
        let mut request = AuthorizationRequest::new(&self.redirect_uri)
            .with_client_name("Rust")
            .with_initial_scope_selection();
        if let Some(document) = &self.document {
            request = request.with_client_metadata_url(document);
        }
        let session = AuthorizationSession::new(manager, request)
            .await
            .map_err(|(_, error)| error)?;
        let back = self.ask(session.get_authorization_url()).await?;
        session
            .handle_callback_with_issuer(&back.code, &back.csrf_token, back.issuer.as_deref())
            .await?;
        Ok(AuthClient::new(reqwest::Client::new(), session.auth_manager))
    }

    /// Requests the scope from the challenge, in addition to the scopes that the client already has.
    async fn step_up(&mut self, client: &Client, scope: &str) -> Result<(), Failure> {
        let url = client.auth_manager.lock().await.request_scope_upgrade(scope).await?;
        let back = self.ask(&url).await?;
        let manager = client.auth_manager.lock().await;
        manager
            .exchange_code_for_token_with_issuer(&back.code, &back.csrf_token, back.issuer.as_deref())
            .await?;
        Ok(())
    }

    /// Makes the stored token an hour older. The SDK refreshes if its clock says so, and after a 401.
    async fn hour(&self) -> Result<(), Failure> {
        if let Some(mut credentials) = self.store.load().await? {
            credentials.token_received_at = credentials.token_received_at.map(|at| at - 3600);
            self.store.save(credentials).await?;
        }
        Ok(())
    }

    async fn connect(&self, client: Client) -> Result<RunningService<RoleClient, ()>, rmcp::service::ClientInitializeError> {
        let config = StreamableHttpClientTransportConfig::with_uri(self.resource.as_str());
        ().serve(StreamableHttpClientTransport::with_client(client, config)).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut program = Program {
        resource: arguments.next().unwrap_or_default(),
        redirect_uri: arguments.next().unwrap_or_default(),
        document: arguments.next(),
        input: BufReader::new(stdin()).lines(),
        store: InMemoryCredentialStore::new(),
    };
    let mut client = AuthClient::new(reqwest::Client::new(), program.manager().await?);
    let mut service = match program.connect(client.clone()).await {
        Ok(service) => service,
        Err(error) => {
            let challenge = error.auth_challenge().ok_or("unauthorized, but no challenge")?.to_owned();
            client = program.authorize(&challenge).await?;
            program.connect(client.clone()).await?
        }
    };
    let version = service.peer_info().map(|info| info.protocol_version.to_string());
    say("connected", &version.unwrap_or_default());
    while let Some(command) = program.input.next_line().await? {
        let Some(tool) = command.strip_prefix("call ").map(str::to_owned) else {
            program.hour().await?;
            say("answer", "");
            continue;
        };
        let mut result = service.call_tool(CallToolRequestParams::new(tool.clone())).await;
        let challenge = result.as_ref().err().and_then(|error| error.auth_challenge()).map(str::to_owned);
        if let Some(challenge) = challenge {
            let params = WWWAuthenticateParams::parse(&challenge, &program.resource.parse()?);
            let again = match params.scope.as_deref() {
                Some(scope) if params.is_insufficient_scope() => program.step_up(&client, scope).await,
                _ => match program.authorize(&challenge).await {
                    Ok(authorized) => {
                        client = authorized;
                        service = program.connect(client.clone()).await?;
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
            };
            if let Err(error) = again {
                say("refused", &error.to_string());
                continue;
            }
            result = service.call_tool(CallToolRequestParams::new(tool)).await;
        }
        match result {
            Ok(answer) => say("answer", &serde_json::to_string(&answer)?),
            Err(error) => say("refused", &error.to_string()),
        }
    }
    Ok(())
}
