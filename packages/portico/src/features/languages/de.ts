import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'Anmelden',
  'sign_in.again': 'Bestätigen Sie, dass Sie es sind',
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
    'Diese Seite war zu lange oder in zu vielen Tabs geöffnet. Bitte melden Sie sich erneut an.',
  'sign_in.slowed': {
    one:
      'Es gab zu viele fehlgeschlagene Anmeldeversuche. Ihr Passwort wurde nicht geprüft: ' +
      'Bitte versuchen Sie es in einer Sekunde erneut.',
    other:
      'Es gab zu viele fehlgeschlagene Anmeldeversuche. Ihr Passwort wurde nicht geprüft: ' +
      'Bitte versuchen Sie es in {count} Sekunden erneut.',
  },
  'sign_in.overloaded':
    'Im Moment melden sich zu viele Personen an. Bitte versuchen Sie es in ein paar Sekunden ' +
    'erneut.',

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
  'consent.anyone': 'Jeder kann eine App erstellen und ihren Namen frei wählen.',
  'consent.calls_itself': 'Die App nennt sich selbst: {name}',
  'consent.called_like_server':
    'Der Name der App kann mit {server} verwechselt werden. Sie ist nicht {server}.',
  'consent.not_server': 'Das ist nicht {server} selbst.',
  'consent.another_application': 'Das ist eine andere App mit einem ähnlichen Namen.',
  'consent.signed_in_as': 'Angemeldet als {person}',
  'consent.switch': 'Das sind nicht Sie?',
  'consent.at_resource': 'Zur Nutzung mit {resource}',
  'consent.scopes': 'Die App darf dann:',
  'consent.new_scopes': 'Neu: Die App darf dann außerdem:',
  'consent.nothing_new': 'Die App verlangt keinen neuen Zugriff',
  'consent.granted_before': {
    other: 'Sie behält, was Sie bereits zugelassen haben ({count})',
  },
  'consent.leave_out': 'Entfernen Sie das Häkchen bei allem, was Sie nicht zulassen möchten.',
  'consent.addable': 'Das können Sie außerdem zulassen:',
  'consent.lasts':
    'Der Zugriff gilt, bis Sie ihn entfernen oder bis die App ihn {time} lang nicht genutzt hat.',
  'consent.lasts_once': 'Der Zugriff endet spätestens nach: {time}.',
  'consent.take_back': 'Sie können ihn jederzeit entfernen:',
  'consent.new_tab': '(wird in einem neuen Tab geöffnet)',
  'consent.sent_to':
    'In beiden Fällen werden Sie zu {host} weitergeleitet. Lassen Sie nur Apps zu, denen Sie ' +
    'vertrauen.',
  'consent.answer_to_site':
    'Wenn Sie zustimmen, werden Sie zu {host} weitergeleitet. Stimmen Sie nur zu, wenn Sie ' +
    'dort begonnen haben.',
  'consent.answer_to_other_site':
    'Wenn Sie zustimmen, werden Sie zu {host} weitergeleitet. Das ist eine andere Website als ' +
    '{client}. Stimmen Sie nur zu, wenn Sie bei {host} begonnen haben.',
  'consent.answer_to_device':
    'In beiden Fällen werden Sie an {host} weitergeleitet. Stimmen Sie nur zu, wenn Sie das ' +
    'gerade selbst gestartet haben.',
  'consent.answer_to_device_of_site':
    'In beiden Fällen werden Sie an {host} weitergeleitet. Auch andere Programme können sich ' +
    'dort als {client} ausgeben. Stimmen Sie nur zu, wenn Sie das gerade selbst gestartet ' +
    'haben.',
  'consent.deny': 'Ablehnen',
  'consent.allow': 'Zulassen',

  'device.page': 'Gerät verbinden',
  'device.title': 'Ein Gerät mit Ihrem {server}-Konto verbinden',
  'device.enter': 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
  'device.compare':
    'Zeigt Ihr Gerät gerade diesen Code an? Fahren Sie nur dann fort. Wenn Ihnen jemand den ' +
    'Link geschickt hat, schließen Sie diese Seite.',
  'device.code': 'Code auf dem Gerät',
  'device.continue': 'Weiter',
  'device.mistyped': 'Das ist kein gültiger Code. Prüfen Sie jeden Buchstaben.',
  'device.unknown':
    'Dieser Code ist unbekannt oder abgelaufen. Beginnen Sie auf Ihrem Gerät von vorn.',
  'device.slowed':
    'Zu viele falsche Codes. Warten Sie einen Moment, und versuchen Sie es dann erneut.',
  'device.only_yours': 'Fahren Sie nur fort, wenn Sie das auf Ihrem eigenen Gerät begonnen haben.',
  'device.never_from_others':
    'Wenn Ihnen jemand den Code oder den Link geschickt hat, wählen Sie „Ablehnen“. Wenn Sie ' +
    'zustimmen, erhält diese Person Zugriff auf Ihr Konto.',
  'device.began': 'Begonnen: {when}, von der Adresse {address}.',
  'device.began_somewhere': 'Begonnen: {when}.',
  'device.shows': 'Ihr Gerät muss den Code {code} anzeigen.',
  'device.allowed.title': 'Ihr Gerät ist verbunden',
  'device.allowed.message': 'Kehren Sie zu Ihrem Gerät zurück. Sie können diese Seite schließen.',
  'device.denied.title': 'Zugriff abgelehnt',
  'device.denied.message': 'Das Gerät erhält keinen Zugriff. Sie können diese Seite schließen.',
  'device.nothing.title': 'Es gibt nichts zuzulassen',
  'device.nothing.message': 'Ihr Konto hat keine der Berechtigungen, die {client} verlangt.',
  'logout.page': 'Abmelden',
  'logout.title': 'Von {server} abmelden?',
  'logout.asked_by': '{client} bittet Sie, sich abzumelden.',
  'logout.confirm': 'Abmelden',
  'logout.stay': 'Angemeldet bleiben',
  'logout.done.title': 'Sie sind abgemeldet',
  'logout.done.message': 'Sie können diese Seite schließen.',
  'logout.stayed.title': 'Sie sind weiterhin angemeldet',
  'logout.stayed.message': 'Es wurde nichts geändert. Sie können diese Seite schließen.',
  'logout.not_valid.title': 'So können Sie sich nicht abmelden',
  'logout.not_valid.message':
    'Die App hat eine ungültige Anfrage gesendet. Es wurde nichts geändert.',
  'response.title': 'Weiter zu {host}',
  'response.message':
    'Sie werden jetzt dorthin geleitet. Wenn nichts geschieht, drücken Sie den Knopf.',
  'response.continue': 'Weiter',

  'applications.page': 'Apps mit Zugriff',
  'applications.title': 'Apps mit Zugriff auf Ihr Konto',
  'applications.removed': 'Zugriff entfernt: Diese App kann nicht mehr in Ihrem Namen handeln.',
  'applications.signed_in_as': 'Angemeldet als {person}.',
  'applications.none': 'Keine App hat Zugriff.',
  'applications.not_verified': 'Nicht von {server} überprüft.',
  'applications.calls_itself': 'Die App nennt sich selbst: {name}',
  'applications.since': 'Zugelassen seit: {date}',
  'applications.given_by': 'Ihre Organisation hat diesen Zugriff gewährt ({issuer})',
  'applications.last_active': 'Zuletzt aktiv: {date}',
  'applications.answered_at': 'Leitet Sie zurück zu: {places}',
  'applications.can': { other: 'Was sie darf ({count})' },
  'applications.nothing_now':
    'Sie darf derzeit nichts, weil Sie keine der Berechtigungen haben, die sie angefordert hat.',
  'applications.remove': 'Zugriff entfernen',
  'applications.remove_of': 'von {client}',
  'applications.removed_all':
    'Zugriff entfernt: Keine dieser Apps kann mehr in Ihrem Namen handeln.',
  'applications.remove_all': 'Alle entfernen',
  'applications.confirm_page': 'Allen Zugriff entfernen?',
  'applications.confirm_title': 'Den Zugriff aller Apps entfernen?',
  'applications.confirm_all': {
    one:
      'Wenn Sie fortfahren, kann eine App nicht mehr in Ihrem Namen handeln. Sie muss Sie bei ' +
      'der nächsten Nutzung erneut fragen.',
    other:
      'Wenn Sie fortfahren, können {count} Apps nicht mehr in Ihrem Namen handeln. Jede muss ' +
      'Sie bei der nächsten Nutzung erneut fragen.',
  },
  'applications.keep': 'Behalten',
  'applications.back': 'Zurück zu {server}',

  'error.back':
    'Wenn Sie einem Link hierher gefolgt sind, gehen Sie zurück zur App, und versuchen Sie es ' +
    'erneut. Wenn das immer wieder geschieht, melden Sie es dem Anbieter der App.',
  'error.request_id': 'Anfrage-ID: {id}',
  'error.not_found.title': 'Seite nicht gefunden',
  'error.not_found.message':
    'Unter dieser Adresse gibt es keine Seite. Vielleicht ist die Adresse falsch, oder die ' +
    'Seite wurde verschoben.',
  'error.too_large.title': 'Die Anfrage ist zu groß',
  'error.too_large.message': 'Sie haben mehr Daten gesendet, als diese Website annimmt.',
  'error.unavailable.title': 'Bitte versuchen Sie es gleich noch einmal',
  'error.unavailable.message':
    'Diese Website kann gerade nicht antworten. Warten Sie kurz, und versuchen Sie es dann erneut.',
  'error.refused.title': 'Anfrage abgelehnt',
  'error.refused.message':
    'Diese Anfrage wurde nicht angenommen. Gehen Sie zurück, laden Sie die Seite neu, und ' +
    'versuchen Sie es erneut.',
  'error.failed.title': 'Ein Fehler ist aufgetreten',
  'error.failed.message':
    'Der Fehler liegt bei uns und wurde aufgezeichnet. Wenn er wieder auftritt, nennen Sie ' +
    'uns die Anfrage-ID unten.',
  'error.fault.title': 'Ein Fehler ist aufgetreten',
  'error.fault.message':
    'Der Fehler liegt bei uns und wurde aufgezeichnet. Gehen Sie zurück zur App, und ' +
    'beginnen Sie noch einmal.',
  'error.unknown_client.title': 'Unbekannte App',
  'error.unknown_client.message':
    'Der Link, der Sie hierher geführt hat, gehört zu einer App, die {server} nicht kennt.',
  'error.untaken_client.title': 'Unbekannte App',
  'error.untaken_client.message':
    'Der Link, der Sie hierher geführt hat, gehört zu einer App, die {server} nicht akzeptiert.',
  'error.unread_client.title': 'Unbekannte App',
  'error.unread_client.message':
    'Die App, die Sie hierher geführt hat, gibt sich als {host} aus, aber {server} konnte ' +
    'ihre Beschreibung dort nicht lesen. Es wurde nichts weitergegeben.',
  'error.client_against_rules.title': 'Diese App kann derzeit keinen Zugriff erhalten',
  'error.client_against_rules.message':
    '{client} erfüllt die Regeln von {server} derzeit nicht. Es wurde nichts weitergegeben.',
  'error.unverified_client_against_rules.title': 'Diese App kann derzeit keinen Zugriff erhalten',
  'error.unverified_client_against_rules.message':
    'Die App, die Sie hierher geführt hat, erfüllt die Regeln von {server} derzeit nicht. Es ' +
    'wurde nichts weitergegeben.',
  'error.unregistered_address.title': 'Nicht registrierte Rückkehradresse',
  'error.unregistered_address.message':
    '{client} wollte Sie zu einer Adresse zurückleiten, die nicht für die App registriert ist. ' +
    'Deshalb wurden Sie nicht dorthin weitergeleitet.',
  'error.unverified_unregistered_address.title': 'Nicht registrierte Rückkehradresse',
  'error.unverified_unregistered_address.message':
    'Eine nicht überprüfte App wollte Sie zu einer Adresse zurückleiten, die nicht für sie ' +
    'registriert ist. Deshalb wurden Sie nicht dorthin weitergeleitet.',
  'error.link_used.title': 'Dieser Link kann nicht mehr verwendet werden',
  'error.link_used.message':
    'Er galt nur kurze Zeit und für eine einzige Antwort. Gehen Sie zurück zur App, und ' +
    'beginnen Sie noch einmal.',
  'error.too_many_waiting.title': 'Zu viele Anfragen warten',
  'error.too_many_waiting.message':
    'Diese Anfrage ist lang, und es ist gerade kein Platz dafür. Gehen Sie zurück zur App, ' +
    'und beginnen Sie in einer Minute noch einmal, oder melden Sie sich zuerst hier an.',
  'error.not_answerable.title': 'Diese Anfrage kann nicht mehr beantwortet werden',
  'error.not_answerable.message':
    'Sie wurde bereits beantwortet, ist abgelaufen oder gehört zu einem anderen Browser oder ' +
    'einer anderen Person. Ihre Antwort wurde nicht angenommen. Gehen Sie zurück zur App, und ' +
    'beginnen Sie noch einmal.',
  'error.allowed_before.title': 'Sie haben diese Anfrage bereits beantwortet',
  'error.allowed_before.message':
    'Sie haben zugestimmt. Auf Ihrer App-Seite ({path}) sehen Sie, welche Apps Zugriff auf ' +
    'Ihr Konto haben. Dort können Sie den Zugriff entfernen.',
  'error.denied_before.title': 'Sie haben diese Anfrage bereits beantwortet',
  'error.denied_before.message':
    'Sie haben abgelehnt, und es wurde nichts weitergegeben. Auf Ihrer App-Seite ({path}) ' +
    'sehen Sie, welche Apps Zugriff auf Ihr Konto haben. Dort können Sie den Zugriff ' +
    'entfernen.',
  'error.answer_not_accepted.title': 'Diese Antwort wurde nicht angenommen',
  'error.answer_not_accepted.message':
    'Sie kam nicht von der Seite mit der Frage, oder inzwischen hat sich eine andere Person ' +
    'angemeldet. Gehen Sie zurück zur App, und beginnen Sie noch einmal.',
  'error.not_signed_in.title': 'Sie sind nicht angemeldet',
  'error.not_signed_in.message':
    'Ihre Antwort wurde nicht angenommen. Gehen Sie zurück zur App, und beginnen Sie noch einmal.',
  'error.not_clear.title': 'Diese Anfrage ist nicht eindeutig',
  'error.not_clear.message':
    'Sie enthält sowohl eine Anfrage als auch eine Antwort. Gehen Sie zurück zur App, und ' +
    'beginnen Sie noch einmal.',
  'error.sign_out_first.title': 'Melden Sie sich zuerst bei {server} ab',
  'error.sign_out_first.message':
    'Diese Anfrage ist beendet, und es wurde nichts weitergegeben. Melden Sie sich in einem ' +
    'anderen Tab ab. Fahren Sie dann hier fort, und melden Sie sich mit Ihrem eigenen Konto ' +
    'an.',
  'error.sign_out_first.link': 'Als andere Person fortfahren',
  'error.nothing_shared.title': 'Es wurde nichts weitergegeben',
  'error.nothing_shared.message':
    'Die App, die Sie hierher geführt hat, hat keinen Zugriff auf Ihr Konto erhalten. Sie ' +
    'wollte Sie zu {host} zurückleiten. {server} hat diese Adresse nicht überprüft. Gehen Sie ' +
    'nur dorthin, wenn Sie dort begonnen haben.',
  'error.nothing_shared.link': 'Zurück zu {host}',
  'error.removal_not_accepted.title': 'Die Anfrage wurde nicht angenommen',
  'error.removal_not_accepted.message':
    'Sie kam nicht von Ihrer App-Seite, oder inzwischen hat sich eine andere Person ' +
    'angemeldet. Es wurde nichts geändert. Öffnen Sie die Seite noch einmal.',
};
