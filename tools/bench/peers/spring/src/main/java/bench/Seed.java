package bench;

import com.nimbusds.jose.Algorithm;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.server.authorization.client.JdbcRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.settings.OAuth2TokenFormat;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;

/** Creates the schema, the person, the keys and the clients, and describes them as JSON. */
final class Seed {

	static final String SCOPE = "notes:read";

	private static final String FOLDER = "org/springframework/security/oauth2/server/authorization/";

	/** Each token is looked up by its value. The schema of Spring has no indexes for that. */
	private static final List<String> LOOKED_UP = List.of("state", "authorization_code_value", "access_token_value",
			"oidc_id_token_value", "refresh_token_value", "user_code_value", "device_code_value");

	private final JdbcTemplate jdbc;

	private final JdbcRegisteredClientRepository clients;

	Seed(DataSource source) {
		this.jdbc = new JdbcTemplate(source);
		this.clients = new JdbcRegisteredClientRepository(this.jdbc);
	}

	static Path keyFile() {
		return Path.of(System.getenv("BENCH_DIRECTORY"), "keys.json");
	}

	String run() throws Exception {
		Files.writeString(keyFile(), keys().toString(false));
		for (String schema : List.of("oauth2-authorization-schema.sql", "oauth2-authorization-consent-schema.sql",
				"client/oauth2-registered-client-schema.sql")) {
			this.jdbc.execute(forPostgres(schema));
		}
		for (String column : LOOKED_UP) {
			this.jdbc.execute("CREATE INDEX ON oauth2_authorization (%s) WHERE %s IS NOT NULL".formatted(column, column));
		}
		this.jdbc.execute("CREATE UNIQUE INDEX ON oauth2_registered_client (client_id)");
		this.jdbc.execute("CREATE TABLE people (email text PRIMARY KEY, name text NOT NULL, password_hash text NOT NULL)");
		this.jdbc.update("INSERT INTO people VALUES (?, ?, ?)", "ada@example.com", "Ada Lovelace",
				Secrets.hashOf("correct horse battery staple"));
		Map<String, Object> seeded = new HashMap<>();
		seeded.put("service", register("service", client -> client
			.authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS).scope(SCOPE), SignatureAlgorithm.RS256));
		seeded.put("web", register("web", Seed::web, SignatureAlgorithm.RS256));
		seeded.put("webES256", register("web-es256", Seed::web, SignatureAlgorithm.ES256));
		seeded.put("inspector", register("inspector", client -> client
			.authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS), SignatureAlgorithm.RS256));
		seeded.put("scopes", Map.of("service", SCOPE, "plain", SCOPE, "openid", "openid profile email " + SCOPE));
		seeded.put("paths", Map.of("authorize", "/oauth2/authorize", "token", "/oauth2/token", "introspect",
				"/oauth2/introspect", "userinfo", "/userinfo", "protected", "/protected", "discovery",
				"/.well-known/openid-configuration", "keys", "/oauth2/jwks"));
		return JSONObjectUtils.toJSONString(seeded);
	}

	/** Does what the comments in the schema say about PostgreSQL. */
	private static String forPostgres(String schema) throws Exception {
		String text = new ClassPathResource(FOLDER + schema).getContentAsString(StandardCharsets.UTF_8);
		return text.replaceAll("(?s)/\\*.*?\\*/", "").replace(" blob ", " text ").replace(" timestamp ", " timestamptz ");
	}

	private static void web(RegisteredClient.Builder client) {
		client.authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
			.authorizationGrantType(AuthorizationGrantType.REFRESH_TOKEN)
			.redirectUri("https://client.example/callback")
			.scope("openid").scope("profile").scope("email").scope(SCOPE);
	}

	private Map<String, Object> register(String id, Consumer<RegisteredClient.Builder> more, SignatureAlgorithm algorithm) {
		String secret = Secrets.random();
		RegisteredClient.Builder client = RegisteredClient.withId(UUID.randomUUID().toString())
			.clientId(id)
			.clientName("Bench")
			.clientSecret(Secrets.hashOf(secret))
			.clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
			.clientSettings(ClientSettings.builder().requireProofKey(true).requireAuthorizationConsent(true).build())
			.tokenSettings(TokenSettings.builder()
				.accessTokenFormat(OAuth2TokenFormat.REFERENCE)
				.accessTokenTimeToLive(Duration.ofHours(1))
				.authorizationCodeTimeToLive(Duration.ofMinutes(1))
				.refreshTokenTimeToLive(Duration.ofDays(30))
				.reuseRefreshTokens(false)
				.idTokenSignatureAlgorithm(algorithm)
				.build());
		more.accept(client);
		this.clients.save(client.build());
		return Map.of("id", id, "secret", secret);
	}

	private static JWKSet keys() throws Exception {
		KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
		rsa.initialize(2048);
		KeyPair first = rsa.generateKeyPair();
		KeyPairGenerator ec = KeyPairGenerator.getInstance("EC");
		ec.initialize(Curve.P_256.toECParameterSpec());
		KeyPair second = ec.generateKeyPair();
		Algorithm rs256 = JWSAlgorithm.RS256;
		JWK one = new RSAKey.Builder((RSAPublicKey) first.getPublic()).privateKey(first.getPrivate())
			.keyID("rsa").keyUse(KeyUse.SIGNATURE).algorithm(rs256).build();
		JWK other = new ECKey.Builder(Curve.P_256, (ECPublicKey) second.getPublic()).privateKey(second.getPrivate())
			.keyID("ec").keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.ES256).build();
		return new JWKSet(List.of(one, other));
	}

}
