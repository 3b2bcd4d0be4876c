import type { CompleteCatalog } from '../../words/english.ts';

/** German. */
export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'Anmelden',
  'sign_in.to': 'Danach geht es weiter zu: {client}',
  'sign_in.to_unverified': 'Danach geht es weiter zu: {client} (von {server} nicht überprüft)',
  'sign_in.identifier': 'E-Mail-Adresse',
  'sign_in.password': 'Passwort',
  'sign_in.show_password': 'Passwort anzeigen',
  'sign_in.hide_password': 'Passwort verbergen',
  'sign_in.submit': 'Anmelden',
  'sign_in.forgot_password': 'Passwort vergessen?',
  'sign_in.terms': 'Nutzungsbedingungen',
  'sign_in.wrong': 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  'sign_in.stale':
    'Diese Seite war zu lange oder in zu vielen Tabs geöffnet. Bitte melden Sie sich noch einmal an.',
  'sign_in.slowed': {
    one: 'Es gab zu viele fehlgeschlagene Anmeldeversuche. Ihr Passwort wurde nicht geprüft: Bitte versuchen Sie es in einer Sekunde erneut.',
    other:
      'Es gab zu viele fehlgeschlagene Anmeldeversuche. Ihr Passwort wurde nicht geprüft: Bitte versuchen Sie es in {count} Sekunden erneut.',
  },
  'sign_in.overloaded':
    'Im Moment melden sich zu viele Personen an. Bitte versuchen Sie es in ein paar Sekunden erneut.',

  'client.on_this_computer': 'ein Programm auf diesem Computer',
  'client.on_this_device': 'eine App auf diesem Gerät',
  'client.not_verified': '{client} (nicht überprüft)',
  'person.unnamed': 'dieses Konto',
  'scope.openid.label': 'Ihre Identität bestätigen',
  'scope.profile.label': 'Ihr Profil sehen, zum Beispiel Ihren Namen',
  'scope.email.label': 'Ihre E-Mail-Adresse sehen',
  'scopes.identity': 'Wer Sie sind',
  'scopes.read': 'Ansehen',
  'scopes.change': 'Ändern',

  'consent.page': '{client}: Zugriff zulassen?',
  'consent.title': 'Darf {client} Ihr {server}-Konto verwenden?',
  'consent.not_verified': 'Nicht von {server} überprüft.',
  'consent.anybody': 'Jeder kann eine Anwendung einrichten und ihren Namen frei wählen.',
  'consent.calls_itself': 'Sie nennt sich selbst: {name}',
  'consent.called_like_server':
    'Der Name, den sie sich gibt, kann mit {server} verwechselt werden. Sie ist nicht {server}.',
  'consent.not_server': 'Das ist nicht {server} selbst.',
  'consent.another_application': 'Es ist eine andere Anwendung mit einem ähnlichen Namen.',
  'consent.signed_in_as': 'Angemeldet als {person}',
  'consent.switch': 'Das sind nicht Sie?',
  'consent.scopes': 'Die Anwendung darf dann:',
  'consent.new_scopes': 'Neu: Die Anwendung darf dann außerdem:',
  'consent.nothing_new': 'Die Anwendung verlangt nichts, was sie nicht schon darf',
  'consent.granted_before': {
    other: 'Sie behält, was Sie bereits zugelassen haben ({count})',
  },
  'consent.lasts':
    'Der Zugriff gilt, bis Sie ihn entfernen oder bis die Anwendung ihn {time} lang nicht genutzt hat.',
  'consent.lasts_once': 'Der Zugriff endet spätestens nach: {time}.',
  'consent.take_back': 'Sie können ihn jederzeit entfernen:',
  'consent.new_tab': '(wird in einem neuen Tab geöffnet)',
  'consent.sent_to':
    'In beiden Fällen werden Sie zu {host} weitergeleitet. Lassen Sie nur Anwendungen zu, die Sie kennen.',
  'consent.answer_to_site':
    'Wenn Sie zustimmen, geht die Antwort an {host}. Stimmen Sie nur zu, wenn Sie von dort kommen.',
  'consent.answer_to_other_site':
    'Wenn Sie zustimmen, geht die Antwort an {host}, also an eine andere Website als {client}. Stimmen Sie nur zu, wenn Sie von dort kommen.',
  'consent.answer_to_device':
    'In beiden Fällen geht die Antwort an {host}. Lassen Sie nur zu, was Sie gerade eben selbst gestartet haben.',
  'consent.answer_to_device_of_site':
    'In beiden Fällen geht die Antwort an {host}. Auch andere können sich dort als {client} ausgeben. Lassen Sie nur zu, was Sie gerade eben selbst gestartet haben.',
  'consent.deny': 'Ablehnen',
  'consent.allow': 'Zulassen',

  'applications.page': 'Anwendungen mit Zugriff',
  'applications.title': 'Anwendungen mit Zugriff auf Ihr Konto',
  'applications.removed': 'Erledigt: Diese Anwendung kann nicht mehr in Ihrem Namen handeln.',
  'applications.signed_in_as': 'Angemeldet als {person}.',
  'applications.none': 'Keine Anwendung hat Zugriff.',
  'applications.not_verified': 'Nicht von {server} überprüft.',
  'applications.calls_itself': 'Sie nennt sich selbst: {name}',
  'applications.since': 'Zugelassen seit: {date}',
  'applications.last_active': 'Zuletzt aktiv: {date}',
  'applications.answered_at': 'Antworten gehen an: {places}',
  'applications.can': { other: 'Was sie darf ({count})' },
  'applications.nothing_now':
    'Sie darf derzeit nichts: Sie besitzen keine der Berechtigungen, um die sie gebeten hat.',
  'applications.remove': 'Zugriff entfernen',
  'applications.remove_of': 'von {client}',
  'applications.removed_all': 'Erledigt: Keine dieser Anwendungen kann noch in Ihrem Namen handeln.',
  'applications.remove_all': 'Alle entfernen',
  'applications.confirm_page': 'Allen Zugriff entfernen?',
  'applications.confirm_title': 'Den Zugriff aller Anwendungen entfernen?',
  'applications.confirm_all': {
    one: 'Wenn Sie fortfahren, kann eine Anwendung nicht mehr in Ihrem Namen handeln. Sie muss Sie bei der nächsten Nutzung erneut fragen.',
    other:
      'Wenn Sie fortfahren, können {count} Anwendungen nicht mehr in Ihrem Namen handeln. Jede muss Sie bei der nächsten Nutzung erneut fragen.',
  },
  'applications.keep': 'Behalten',
  'applications.back': 'Zurück zu {server}',

  'error.back':
    'Wenn Sie einem Link hierher gefolgt sind, gehen Sie zu der Anwendung zurück, von der er kam, und versuchen Sie es noch einmal. Wenn das jedes Mal geschieht, melden Sie es dem Anbieter der Anwendung.',
  'error.request_id': 'Anfrage-ID: {id}',
  'error.not_found.title': 'Diese Seite gibt es nicht',
  'error.not_found.message':
    'Unter dieser Adresse ist nichts zu finden. Vielleicht enthält sie einen Tippfehler, oder die Seite ist umgezogen.',
  'error.too_large.title': 'Das war zu viel',
  'error.too_large.message': 'Es wurde mehr gesendet, als diese Website annimmt.',
  'error.unavailable.title': 'Bitte versuchen Sie es gleich noch einmal',
  'error.unavailable.message':
    'Diese Website kann gerade nicht antworten. Warten Sie kurz, und versuchen Sie dann dasselbe noch einmal.',
  'error.refused.title': 'Das wurde abgelehnt',
  'error.refused.message':
    'So ist das nicht möglich. Gehen Sie zurück, laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'error.failed.title': 'Hier ist etwas schiefgegangen',
  'error.failed.message':
    'Der Fehler liegt bei uns und wurde aufgezeichnet. Wenn er wieder auftritt, nennen Sie uns die Anfrage-ID unten.',
  'error.fault.title': 'Hier ist etwas schiefgegangen',
  'error.fault.message':
    'Der Fehler liegt bei uns und wurde aufgezeichnet. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.unknown_client.title': 'Unbekannte Anwendung',
  'error.unknown_client.message':
    'Der Link, der Sie hierher geführt hat, nennt keine Anwendung, die {server} kennt.',
  'error.untaken_client.title': 'Unbekannte Anwendung',
  'error.untaken_client.message':
    'Der Link, der Sie hierher geführt hat, nennt keine Anwendung, die {server} annimmt.',
  'error.unread_client.title': 'Unbekannte Anwendung',
  'error.unread_client.message':
    'Was Sie hierher geführt hat, gibt sich als {host} aus, und {server} konnte dort nicht lesen, was es ist. Es wurde nichts weitergegeben.',
  'error.client_against_rules.title': 'Diese Anwendung erhält derzeit keinen Zugriff',
  'error.client_against_rules.message':
    'Für {client} gelten bei {server} Regeln, die derzeit nicht erfüllt sind. Es wurde nichts weitergegeben.',
  'error.unverified_client_against_rules.title': 'Diese Anwendung erhält derzeit keinen Zugriff',
  'error.unverified_client_against_rules.message':
    'Für die Anwendung, die Sie hierher geführt hat, gelten bei {server} Regeln, die derzeit nicht erfüllt sind. Es wurde nichts weitergegeben.',
  'error.unregistered_address.title': 'Nicht registrierte Rückkehradresse',
  'error.unregistered_address.message':
    '{client} hat um eine Antwort an eine Adresse gebeten, die nicht registriert ist. Sie werden deshalb nicht dorthin weitergeleitet.',
  'error.unverified_unregistered_address.title': 'Nicht registrierte Rückkehradresse',
  'error.unverified_unregistered_address.message':
    'Eine Anwendung, die niemand überprüft hat, hat um eine Antwort an eine Adresse gebeten, die nicht registriert ist. Sie werden deshalb nicht dorthin weitergeleitet.',
  'error.link_used.title': 'Dieser Link kann nicht mehr verwendet werden',
  'error.link_used.message':
    'Er galt nur kurze Zeit und für eine einzige Antwort. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.too_many_waiting.title': 'Zu viele Anfragen warten',
  'error.too_many_waiting.message':
    'Diese Anfrage ist lang, und es ist gerade kein Platz dafür. Gehen Sie zurück zur Anwendung, und beginnen Sie in einer Minute noch einmal, oder melden Sie sich zuerst hier an.',
  'error.not_answerable.title': 'Diese Anfrage kann nicht mehr beantwortet werden',
  'error.not_answerable.message':
    'Sie wurde bereits beantwortet, hat zu lange gedauert oder gehört zu einem anderen Browser oder einer anderen Person. Jetzt wurde keine Antwort angenommen. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.allowed_before.title': 'Sie haben diese Anfrage bereits beantwortet',
  'error.allowed_before.message':
    'Sie haben zugestimmt. Auf Ihrer Seite der Anwendungen ({path}) sehen Sie, welche Anwendungen Zugriff auf Ihr Konto haben, und können ihn entfernen.',
  'error.denied_before.title': 'Sie haben diese Anfrage bereits beantwortet',
  'error.denied_before.message':
    'Sie haben abgelehnt, und es wurde nichts weitergegeben. Auf Ihrer Seite der Anwendungen ({path}) sehen Sie, welche Anwendungen Zugriff auf Ihr Konto haben, und können ihn entfernen.',
  'error.answer_not_accepted.title': 'Diese Antwort wurde nicht angenommen',
  'error.answer_not_accepted.message':
    'Sie kam nicht von der Seite mit der Frage, oder inzwischen hat sich eine andere Person angemeldet. Jetzt wurde keine Antwort angenommen. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.not_signed_in.title': 'Sie sind nicht angemeldet',
  'error.not_signed_in.message':
    'Die Antwort wurde nicht angenommen. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.not_clear.title': 'Diese Anfrage ist nicht eindeutig',
  'error.not_clear.message':
    'Sie ist Frage und Antwort zugleich. Gehen Sie zurück zur Anwendung, und beginnen Sie noch einmal.',
  'error.sign_out_first.title': 'Melden Sie sich zuerst bei {server} ab',
  'error.sign_out_first.message':
    'Diese Anfrage ist beendet, und es wurde nichts weitergegeben. Melden Sie sich in einem anderen Tab ab. Fahren Sie dann hier fort, und melden Sie sich mit Ihrem eigenen Konto an.',
  'error.sign_out_first.link': 'Als jemand anderes fortfahren',
  'error.nothing_shared.title': 'Es wurde nichts weitergegeben',
  'error.nothing_shared.message':
    'Die Anwendung, die Sie hierher geführt hat, hat keinen Zugriff auf Ihr Konto erhalten. Sie wollte die Antwort an {host} bekommen. {server} hat diese Adresse nicht überprüft: Gehen Sie nur dorthin, wenn Sie von dort gekommen sind.',
  'error.nothing_shared.link': 'Zurück zu {host}',
  'error.removal_not_accepted.title': 'Das wurde nicht angenommen',
  'error.removal_not_accepted.message':
    'Es kam nicht von Ihrer Seite der Anwendungen, oder inzwischen hat sich jemand anderes angemeldet. Es wurde nichts geändert. Öffnen Sie die Seite noch einmal.',
};
