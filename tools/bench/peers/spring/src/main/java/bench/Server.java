package bench;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.oidc.OidcUserInfo;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationConsentService;
import org.springframework.security.oauth2.server.authorization.OAuth2Authorization;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationConsent;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationConsentService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.security.oauth2.server.authorization.authentication.OAuth2AuthorizationCodeRequestAuthenticationProvider;
import org.springframework.security.oauth2.server.authorization.client.JdbcRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.oidc.authentication.OidcUserInfoAuthenticationContext;
import org.springframework.security.oauth2.server.authorization.settings.AuthorizationServerSettings;
import org.springframework.security.oauth2.server.resource.authentication.OpaqueTokenAuthenticationProvider;
import org.springframework.security.oauth2.server.resource.introspection.BadOpaqueTokenException;
import org.springframework.security.oauth2.server.resource.introspection.OpaqueTokenIntrospector;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Spring Authorization Server on PostgreSQL, as a target of the benchmarks. `seed` creates the
 * schema, the person, the keys and the clients. `serve` listens on the loopback address.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class Server {

	public static void main(String[] arguments) throws Exception {
		if (arguments.length > 0 && arguments[0].equals("seed")) {
			String seeded;
			try (HikariDataSource source = open()) {
				seeded = new Seed(source).run();
			}
			System.out.println(seeded);
			return;
		}
		SpringApplication application = new SpringApplication(Server.class);
		application.setDefaultProperties(Map.of("server.port", System.getenv("BENCH_PORT")));
		application.run();
	}

	private static HikariDataSource open() {
		String database = System.getenv("BENCH_DATABASE");
		if (!database.startsWith("postgres")) {
			throw new IllegalStateException("Spring Authorization Server runs on PostgreSQL only: set DATABASE_URL");
		}
		URI url = URI.create(database);
		String[] user = url.getUserInfo().split(":", 2);
		// The pool has ten connections, as those of the other targets, and this is also its default.
		HikariDataSource source = new HikariDataSource();
		source.setMaximumPoolSize(10);
		source.setJdbcUrl("jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
		source.setUsername(user[0]);
		source.setPassword(user.length == 2 ? user[1] : "");
		return source;
	}

	@Bean
	DataSource dataSource() {
		return open();
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http, JdbcTemplate jdbc, OpaqueTokenIntrospector introspector)
			throws Exception {
		return http
			.oauth2AuthorizationServer(server -> server
				.authorizationEndpoint(endpoint -> endpoint.authenticationProviders(providers -> providers.forEach(provider -> {
					// The person is asked each time, as by the other targets.
					if (provider instanceof OAuth2AuthorizationCodeRequestAuthenticationProvider asked) {
						asked.setAuthorizationConsentRequired(request -> true);
					}
				})))
				.oidc(oidc -> oidc.userInfoEndpoint(endpoint -> endpoint.userInfoMapper(asked -> userInfo(jdbc, asked)))))
			.authorizeHttpRequests(requests -> requests
				.requestMatchers("/protected").hasAuthority("SCOPE_" + Seed.SCOPE)
				.anyRequest().authenticated())
			// The OpenID Connect part asks for JWTs. Its tokens are opaque here.
			.oauth2ResourceServer(server -> server.jwt(token -> token
				.authenticationManager(new ProviderManager(new OpaqueTokenAuthenticationProvider(introspector)))))
			.exceptionHandling(failure -> failure.defaultAuthenticationEntryPointFor(
					new LoginUrlAuthenticationEntryPoint("/login"),
					PathPatternRequestMatcher.withDefaults().matcher("/oauth2/authorize")))
			.formLogin(form -> form.usernameParameter("email"))
			.build();
	}

	private static OidcUserInfo userInfo(JdbcTemplate jdbc, OidcUserInfoAuthenticationContext asked) {
		String email = asked.getAuthorization().getPrincipalName();
		OidcUserInfo.Builder info = OidcUserInfo.builder().subject(email);
		String name = jdbc.queryForObject("SELECT name FROM people WHERE email = ?", String.class, email);
		if (asked.getAccessToken().getScopes().contains("profile")) {
			info.name(name);
		}
		if (asked.getAccessToken().getScopes().contains("email")) {
			info.email(email).emailVerified(true);
		}
		return info.build();
	}

	@Bean
	RegisteredClientRepository clients(JdbcTemplate jdbc) {
		return new JdbcRegisteredClientRepository(jdbc);
	}

	@Bean
	OAuth2AuthorizationService authorizations(JdbcTemplate jdbc, RegisteredClientRepository clients,
			TransactionTemplate sameConnection) {
		return new Authorizations(jdbc, clients, sameConnection);
	}

	@Bean
	OAuth2AuthorizationConsentService consents(JdbcTemplate jdbc, RegisteredClientRepository clients,
			TransactionTemplate sameConnection) {
		return new JdbcOAuth2AuthorizationConsentService(jdbc, clients) {

			@Override
			public OAuth2AuthorizationConsent findById(String client, String person) {
				return sameConnection.execute(status -> super.findById(client, person));
			}

		};
	}

	/** Binds a connection to the thread. It begins no transaction, so it sends no statement. */
	@Bean
	TransactionTemplate sameConnection(PlatformTransactionManager transactions) {
		TransactionTemplate template = new TransactionTemplate(transactions);
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		return template;
	}

	@Bean
	AuthorizationServerSettings settings() {
		return AuthorizationServerSettings.builder().issuer("http://127.0.0.1:" + System.getenv("BENCH_PORT")).build();
	}

	@Bean
	JWKSource<SecurityContext> keys() throws Exception {
		return new ImmutableJWKSet<>(JWKSet.load(Seed.keyFile().toFile()));
	}

	@Bean
	PasswordEncoder secrets() {
		return new Secrets();
	}

	@Bean
	UserDetailsService people(JdbcTemplate jdbc) {
		return email -> jdbc.queryForObject("SELECT password_hash FROM people WHERE email = ?",
				(row, index) -> User.withUsername(email).password(row.getString(1)).authorities(List.of()).build(), email);
	}

	/** Looks a token up in this server's own storage, and not with a request to the server. */
	@Bean
	OpaqueTokenIntrospector introspector(OAuth2AuthorizationService authorizations) {
		return token -> {
			OAuth2Authorization found = authorizations.findByToken(token, OAuth2TokenType.ACCESS_TOKEN);
			if (found == null || !found.getAccessToken().isActive()) {
				throw new BadOpaqueTokenException("The token is not active");
			}
			List<GrantedAuthority> authorities = found.getAuthorizedScopes().stream()
				.map(scope -> new SimpleGrantedAuthority("SCOPE_" + scope))
				.collect(Collectors.toList());
			return new DefaultOAuth2AuthenticatedPrincipal(found.getPrincipalName(), Map.of("sub", found.getPrincipalName()),
					authorities);
		};
	}

	@RestController
	static class Protected {

		/** Reads the current account, as the other targets do. */
		private final JdbcTemplate jdbc;

		Protected(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@GetMapping("/protected")
		Map<String, String> user(@AuthenticationPrincipal OAuth2AuthenticatedPrincipal principal) {
			return Map.of("user", this.jdbc.queryForObject("SELECT email FROM people WHERE email = ?", String.class,
					principal.getName()));
		}

	}

}
