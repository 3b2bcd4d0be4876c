package bench;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Hashes secrets with SHA-256. That is enough for the secrets of clients: they are 256 random bits
 * and cannot be guessed. Spring's default, bcrypt, would take most of the time of each request.
 */
final class Secrets implements PasswordEncoder {

	private static final SecureRandom RANDOM = new SecureRandom();

	static String random() {
		byte[] bytes = new byte[32];
		RANDOM.nextBytes(bytes);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

	static String hashOf(CharSequence secret) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(secret.toString().getBytes(StandardCharsets.UTF_8));
			return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
		}
		catch (NoSuchAlgorithmException impossible) {
			throw new IllegalStateException(impossible);
		}
	}

	@Override
	public String encode(CharSequence secret) {
		return hashOf(secret);
	}

	@Override
	public boolean matches(CharSequence secret, String hash) {
		return MessageDigest.isEqual(hashOf(secret).getBytes(StandardCharsets.UTF_8), hash.getBytes(StandardCharsets.UTF_8));
	}

}
