import { createHash } from 'node:crypto';

/**
 * The script for the button "Show password" on the sign-in page. The button stays hidden if the
 * script does not run. Before the form is submitted or the user leaves the page, the script hides
 * the password, so that no browser saves it as plain text.
 */
export const SHOW_PASSWORD_SCRIPT = `(() => {
  const button = document.getElementById('show-password');
  const field = document.getElementById('password');
  const texts = { show: button.textContent, hide: button.dataset.hide };
  const show = (shown) => {
    field.type = shown ? 'text' : 'password';
    button.textContent = shown ? texts.hide : texts.show;
  };
  button.addEventListener('click', () => show(field.type === 'password'));
  field.form.addEventListener('submit', () => show(false));
  window.addEventListener('pagehide', () => show(false));
  button.hidden = false;
})();`;

/** The script's hash, for the content security policy. */
export const SHOW_PASSWORD_HASH = `sha256-${createHash('sha256').update(SHOW_PASSWORD_SCRIPT).digest('base64')}`;
