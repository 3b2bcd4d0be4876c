package bench;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2Authorization;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Spring's own storage, with two changes. It reads an access token only once for each request:
 * UserInfo looks it up twice, to authenticate the request and to answer it. And the nested read of
 * the client uses the connection of the outer read. Otherwise ten simultaneous requests would hold
 * all connections of the pool, and each would wait for one more.
 */
final class Authorizations extends JdbcOAuth2AuthorizationService {

	private final TransactionTemplate sameConnection;

	Authorizations(JdbcOperations jdbc, RegisteredClientRepository clients, TransactionTemplate sameConnection) {
		super(jdbc, clients);
		this.sameConnection = sameConnection;
	}

	private OAuth2Authorization read(String token, OAuth2TokenType type) {
		return this.sameConnection.execute(status -> super.findByToken(token, type));
	}

	@Override
	public OAuth2Authorization findById(String id) {
		return this.sameConnection.execute(status -> super.findById(id));
	}

	@Override
	public OAuth2Authorization findByToken(String token, OAuth2TokenType type) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		if (request == null || !OAuth2TokenType.ACCESS_TOKEN.equals(type)) {
			return read(token, type);
		}
		Object known = request.getAttribute(token, RequestAttributes.SCOPE_REQUEST);
		if (known == null) {
			known = read(token, type);
			if (known != null) {
				request.setAttribute(token, known, RequestAttributes.SCOPE_REQUEST);
			}
		}
		return (OAuth2Authorization) known;
	}

}
