import com.nimbusds.jose.jwk.JWK;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Scanner;
import org.springframework.security.oauth2.client.endpoint.AbstractRestClientOAuth2AccessTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.NimbusJwtClientAuthenticationParametersConverter;
import org.springframework.security.oauth2.client.endpoint.OAuth2AuthorizationCodeGrantRequest;
import org.springframework.security.oauth2.client.endpoint.OAuth2RefreshTokenGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientAuthorizationCodeTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientRefreshTokenTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.AbstractOAuth2AuthorizationGrantRequest;
import org.springframework.security.oauth2.client.oidc.authentication.OidcIdTokenDecoderFactory;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.userinfo.DefaultOAuth2UserService;
import org.springframework.security.oauth2.client.userinfo.OAuth2UserRequest;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationExchange;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationResponse;
import org.springframework.web.util.UriComponentsBuilder;
import tools.jackson.databind.json.JsonMapper;

/**
 * Spring Security's client. It uses the classes that the filters of Spring Security use. Its input
 * and output are the same as in ../authlib/client.py.
 */
public class Client {
  static final JsonMapper JSON = new JsonMapper();
  static final Scanner INPUT = new Scanner(System.in);

  static void say(Map<String, ?> said) {
    System.out.println(JSON.writeValueAsString(said));
  }

  static <G extends AbstractOAuth2AuthorizationGrantRequest, C extends AbstractRestClientOAuth2AccessTokenResponseClient<G>> C signing(
      C client, Map<?, ?> given) throws Exception {
    if (given.get("method").equals("private_key_jwt")) {
      JWK key = JWK.parse(JSON.writeValueAsString(given.get("key")));
      client.addParametersConverter(new NimbusJwtClientAuthenticationParametersConverter<G>((registration) -> key));
    }
    return client;
  }

  public static void main(String[] arguments) throws Exception {
    Map<?, ?> given = JSON.readValue(INPUT.nextLine(), Map.class);
    ClientRegistration registration =
        ClientRegistrations.fromIssuerLocation((String) given.get("issuer"))
            .clientId((String) given.get("client_id"))
            .clientSecret((String) given.get("secret"))
            .clientAuthenticationMethod(new ClientAuthenticationMethod((String) given.get("method")))
            .redirectUri((String) given.get("redirect_uri"))
            .scope(((String) given.get("scope")).split(" "))
            .build();
    var provider = registration.getProviderDetails();

    OAuth2AuthorizationRequest.Builder asking =
        OAuth2AuthorizationRequest.authorizationCode()
            .clientId(registration.getClientId())
            .authorizationUri(provider.getAuthorizationUri())
            .redirectUri(registration.getRedirectUri())
            .scopes(registration.getScopes())
            .state("the-state");
    OAuth2AuthorizationRequestCustomizers.withPkce().accept(asking);
    OAuth2AuthorizationRequest request = asking.build();
    say(Map.of("authorize", request.getAuthorizationRequestUri()));

    String callback = JSON.readValue(INPUT.nextLine(), String.class);
    var parameters = UriComponentsBuilder.fromUriString(callback).build().getQueryParams().toSingleValueMap();
    OAuth2AuthorizationResponse response =
        OAuth2AuthorizationResponse.success(parameters.get("code"))
            .redirectUri(registration.getRedirectUri())
            .state(parameters.get("state"))
            .build();
    var tokens =
        signing(new RestClientAuthorizationCodeTokenResponseClient(), given)
            .getTokenResponse(
                new OAuth2AuthorizationCodeGrantRequest(
                    registration, new OAuth2AuthorizationExchange(request, response)));
    var identity =
        new OidcIdTokenDecoderFactory()
            .createDecoder(registration)
            .decode((String) tokens.getAdditionalParameters().get("id_token"));
    var refreshed =
        signing(new RestClientRefreshTokenTokenResponseClient(), given)
            .getTokenResponse(
                new OAuth2RefreshTokenGrantRequest(
                    registration, tokens.getAccessToken(), tokens.getRefreshToken()));
    var user =
        new DefaultOAuth2UserService().loadUser(new OAuth2UserRequest(registration, refreshed.getAccessToken()));

    Map<String, Object> said = new LinkedHashMap<>();
    String before = tokens.getAccessToken().getTokenValue();
    said.put("refreshed", !refreshed.getAccessToken().getTokenValue().equals(before));
    said.put("name", user.getAttribute("name"));
    said.put("same", identity.getSubject().equals(user.getName()));
    say(said);
  }
}
