import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'Se connecter',
  'sign_in.again': 'Confirmez votre identité',
  'sign_in.to': 'pour continuer vers {client}',
  'sign_in.to_unverified': 'pour continuer vers {client}, que {server} n’a pas vérifié',
  'sign_in.identifier': 'Adresse e-mail',
  'sign_in.password': 'Mot de passe',
  'sign_in.show_password': 'Afficher le mot de passe',
  'sign_in.hide_password': 'Masquer le mot de passe',
  'sign_in.submit': 'Se connecter',
  'sign_in.forgot_password': 'Mot de passe oublié ?',
  'sign_in.terms': 'Conditions d’utilisation',
  'sign_in.wrong': 'L’adresse e-mail ou le mot de passe est incorrect.',
  'sign_in.stale':
    'Cette page est restée ouverte trop longtemps, ou dans trop d’onglets. Veuillez vous ' +
    'reconnecter.',
  'sign_in.slowed': {
    one:
      'Il y a eu trop de tentatives de connexion infructueuses. Votre mot de passe n’a pas été ' +
      'vérifié : veuillez réessayer dans {count} seconde.',
    other:
      'Il y a eu trop de tentatives de connexion infructueuses. Votre mot de passe n’a pas ' +
      'été vérifié : veuillez réessayer dans {count} secondes.',
  },
  'sign_in.overloaded':
    'Trop de personnes se connectent en ce moment. Veuillez réessayer dans quelques secondes.',

  'client.on_this_computer': 'un programme sur cet ordinateur',
  'client.on_this_device': 'une application sur cet appareil',
  'client.not_verified': '{client} (non vérifié)',
  'person.unnamed': 'ce compte',
  'scope.openid.label': 'Confirmer votre identité',
  'scope.profile.label': 'Voir votre profil, par exemple votre nom',
  'scope.email.label': 'Voir votre adresse e-mail',
  'scopes.identity': 'Votre identité',
  'scopes.read': 'Consulter',
  'scopes.change': 'Modifier',

  'consent.page': 'Autoriser {client} ?',
  'consent.title': 'Autoriser {client} à utiliser votre compte {server} ?',
  'consent.not_verified': 'Non vérifié par {server}.',
  'consent.anyone': 'N’importe qui peut créer une application et en choisir le nom.',
  'consent.calls_itself': 'Nom que l’application se donne : {name}',
  'consent.called_like_server': 'Son nom peut être confondu avec {server}. Ce n’est pas {server}.',
  'consent.not_server': 'Ce n’est pas {server}.',
  'consent.another_application': 'C’est une autre application, au nom semblable.',
  'consent.signed_in_as': 'Vous êtes connecté en tant que {person}',
  'consent.switch': 'Ce n’est pas vous ?',
  'consent.at_resource': 'Pour une utilisation avec {resource}',
  'consent.scopes': 'L’application pourra :',
  'consent.new_scopes': 'Nouveau : l’application pourra aussi :',
  'consent.nothing_new': 'L’application ne demande aucun nouvel accès',
  'consent.granted_before': {
    other: 'Elle conserve ce que vous avez déjà autorisé ({count})',
  },
  'consent.leave_out': 'Décochez ce que vous ne voulez pas autoriser.',
  'consent.addable': 'Vous pouvez aussi autoriser :',
  'consent.lasts':
    'L’accès dure jusqu’à ce que vous le supprimiez, ou jusqu’à ce que l’application ne ' +
    'l’ait pas utilisé pendant {time}.',
  'consent.lasts_once': 'L’accès dure au plus {time}.',
  'consent.take_back': 'Vous pouvez le supprimer à tout moment :',
  'consent.new_tab': '(s’ouvre dans un nouvel onglet)',
  'consent.sent_to':
    'Dans les deux cas, vous serez redirigé vers {host}. N’autorisez que les applications ' +
    'auxquelles vous faites confiance.',
  'consent.answer_to_site':
    'Si vous autorisez l’accès, vous serez redirigé vers {host}. Ne l’autorisez que si vous ' +
    'avez commencé sur ce site.',
  'consent.answer_to_other_site':
    'Si vous autorisez l’accès, vous serez redirigé vers {host}, qui est un autre site que ' +
    '{client}. Ne l’autorisez que si vous avez commencé sur {host}.',
  'consent.answer_to_device':
    'Dans les deux cas, vous serez redirigé vers {host}. N’autorisez l’accès que si vous venez ' +
    'de le demander vous-même.',
  'consent.answer_to_device_of_site':
    'Dans les deux cas, vous serez redirigé vers {host}. D’autres programmes peuvent aussi s’y ' +
    'faire passer pour {client}. N’autorisez l’accès que si vous venez de le demander ' +
    'vous-même.',
  'consent.deny': 'Refuser',
  'consent.allow': 'Autoriser',

  'device.page': 'Connecter un appareil',
  'device.title': 'Connecter un appareil à votre compte {server}',
  'device.enter': 'Saisissez le code affiché par votre appareil.',
  'device.compare':
    'Votre appareil affiche-t-il ce code en ce moment ? Continuez uniquement si c’est le ' +
    'cas. Si quelqu’un vous a envoyé le lien, fermez cette page.',
  'device.code': 'Code de l’appareil',
  'device.continue': 'Continuer',
  'device.mistyped': 'Ce code n’est pas valide. Vérifiez chaque lettre.',
  'device.unknown': 'Ce code est inconnu ou a expiré. Recommencez sur votre appareil.',
  'device.slowed': 'Trop de codes erronés. Attendez un instant, puis réessayez.',
  'device.only_yours': 'Continuez uniquement si vous avez commencé sur votre propre appareil.',
  'device.never_from_others':
    'Si quelqu’un vous a envoyé le code ou le lien, choisissez « Refuser ». Si vous autorisez ' +
    'l’accès, cette personne aura accès à votre compte.',
  'device.began': 'Demande commencée : {when}, depuis l’adresse {address}.',
  'device.began_somewhere': 'Demande commencée : {when}.',
  'device.shows': 'Votre appareil doit afficher le code {code}.',
  'device.allowed.title': 'Votre appareil est connecté',
  'device.allowed.message': 'Revenez à votre appareil. Vous pouvez fermer cette page.',
  'device.denied.title': 'Accès refusé',
  'device.denied.message': 'L’appareil n’obtient aucun accès. Vous pouvez fermer cette page.',
  'device.nothing.title': 'Il n’y a rien à autoriser',
  'device.nothing.message': 'Votre compte n’a aucune des autorisations demandées par {client}.',
  'logout.page': 'Se déconnecter',
  'logout.title': 'Se déconnecter de {server} ?',
  'logout.asked_by': '{client} vous demande de vous déconnecter.',
  'logout.confirm': 'Se déconnecter',
  'logout.stay': 'Rester connecté',
  'logout.done.title': 'Vous êtes déconnecté',
  'logout.done.message': 'Vous pouvez fermer cette page.',
  'logout.stayed.title': 'Vous êtes toujours connecté',
  'logout.stayed.message': 'Rien n’a été modifié. Vous pouvez fermer cette page.',
  'logout.not_valid.title': 'Impossible de se déconnecter ainsi',
  'logout.not_valid.message':
    'L’application a envoyé une demande non valide. Rien n’a été modifié.',
  'response.title': 'Continuer vers {host}',
  'response.message': 'Vous allez y être redirigé. Si rien ne se passe, appuyez sur le bouton.',
  'response.continue': 'Continuer',

  'applications.page': 'Applications ayant accès',
  'applications.title': 'Applications ayant accès à votre compte',
  'applications.removed': 'Accès supprimé : cette application ne peut plus agir en votre nom.',
  'applications.signed_in_as': 'Vous êtes connecté en tant que {person}.',
  'applications.none': 'Aucune application n’a accès.',
  'applications.not_verified': 'Non vérifié par {server}.',
  'applications.calls_itself': 'Nom que l’application se donne : {name}',
  'applications.since': 'Autorisée depuis le {date}',
  'applications.given_by': 'Votre organisation a accordé cet accès ({issuer})',
  'applications.last_active': 'Dernière activité le {date}',
  'applications.answered_at': 'Vous renvoie vers : {places}',
  'applications.can': { other: 'Ce qu’elle peut faire ({count})' },
  'applications.nothing_now':
    'Elle ne peut rien faire en ce moment, car vous n’avez aucune des autorisations qu’elle ' +
    'a demandées.',
  'applications.remove': 'Supprimer l’accès',
  'applications.remove_of': 'de {client}',
  'applications.removed_all':
    'Accès supprimé : aucune de ces applications ne peut plus agir en votre nom.',
  'applications.remove_all': 'Tout supprimer',
  'applications.confirm_page': 'Supprimer tous les accès ?',
  'applications.confirm_title': 'Supprimer l’accès de toutes les applications ?',
  'applications.confirm_all': {
    one:
      'Si vous continuez, une application ne pourra plus agir en votre nom. Elle devra vous ' +
      'redemander l’autorisation à sa prochaine utilisation.',
    other:
      'Si vous continuez, {count} applications ne pourront plus agir en votre nom. Chacune ' +
      'devra vous redemander l’autorisation à sa prochaine utilisation.',
  },
  'applications.keep': 'Les conserver',
  'applications.back': 'Retour à {server}',

  'error.back':
    'Si vous avez suivi un lien pour arriver ici, retournez à l’application et réessayez. Si ' +
    'cela se reproduit, signalez-le à l’éditeur de cette application.',
  'error.request_id': 'Identifiant de la demande : {id}',
  'error.not_found.title': 'Page introuvable',
  'error.not_found.message':
    'Il n’y a pas de page à cette adresse. L’adresse est peut-être erronée, ou la page a été ' +
    'déplacée.',
  'error.too_large.title': 'La demande est trop volumineuse',
  'error.too_large.message': 'Vous avez envoyé plus de données que ce site n’en accepte.',
  'error.unavailable.title': 'Veuillez réessayer dans un instant',
  'error.unavailable.message':
    'Ce site ne peut pas répondre pour le moment. Patientez un peu, puis réessayez.',
  'error.refused.title': 'Demande refusée',
  'error.refused.message':
    'Cette demande n’a pas été acceptée. Revenez en arrière, rechargez la page et réessayez.',
  'error.failed.title': 'Une erreur s’est produite',
  'error.failed.message':
    'L’erreur vient de nous et a été enregistrée. Si elle se reproduit, envoyez-nous ' +
    'l’identifiant de la demande ci-dessous.',
  'error.fault.title': 'Une erreur s’est produite',
  'error.fault.message':
    'L’erreur vient de nous et a été enregistrée. Retournez à l’application et recommencez.',
  'error.unknown_client.title': 'Application inconnue',
  'error.unknown_client.message':
    'Le lien qui vous a amené ici correspond à une application que {server} ne connaît pas.',
  'error.untaken_client.title': 'Application inconnue',
  'error.untaken_client.message':
    'Le lien qui vous a amené ici correspond à une application que {server} n’accepte pas.',
  'error.unread_client.title': 'Application inconnue',
  'error.unread_client.message':
    'L’application qui vous a amené ici prétend être {host}, mais {server} n’a pas pu y lire ' +
    'sa description. Rien n’a été partagé.',
  'error.client_against_rules.title':
    'Cette application ne peut pas obtenir d’accès pour le moment',
  'error.client_against_rules.message':
    '{client} ne respecte pas les règles de {server} pour le moment. Rien n’a été partagé.',
  'error.unverified_client_against_rules.title':
    'Cette application ne peut pas obtenir d’accès pour le moment',
  'error.unverified_client_against_rules.message':
    'L’application qui vous a amené ici ne respecte pas les règles de {server} pour le ' +
    'moment. Rien n’a été partagé.',
  'error.unregistered_address.title': 'Adresse de retour non enregistrée',
  'error.unregistered_address.message':
    '{client} a demandé à vous renvoyer vers une adresse qui n’est pas enregistrée pour cette ' +
    'application. Vous n’y avez donc pas été redirigé.',
  'error.unverified_unregistered_address.title': 'Adresse de retour non enregistrée',
  'error.unverified_unregistered_address.message':
    'Une application non vérifiée a demandé à vous renvoyer vers une adresse qui n’est pas ' +
    'enregistrée pour elle. Vous n’y avez donc pas été redirigé.',
  'error.link_used.title': 'Ce lien n’est plus utilisable',
  'error.link_used.message':
    'Il était valable peu de temps et pour une seule réponse. Retournez à l’application et ' +
    'recommencez.',
  'error.too_many_waiting.title': 'Trop de demandes sont en attente',
  'error.too_many_waiting.message':
    'Cette demande est longue, et il n’y a pas de place pour elle en ce moment. Retournez à ' +
    'l’application et recommencez dans une minute, ou connectez-vous d’abord ici.',
  'error.not_answerable.title': 'Il n’est plus possible de répondre à cette demande',
  'error.not_answerable.message':
    'Elle a déjà reçu une réponse, a expiré, ou appartient à un autre navigateur ou à une ' +
    'autre personne. Votre réponse n’a pas été acceptée. Retournez à l’application et ' +
    'recommencez.',
  'error.allowed_before.title': 'Vous avez déjà répondu à cette demande',
  'error.allowed_before.message':
    'Vous l’avez autorisée. Votre page des applications ({path}) indique quelles ' +
    'applications ont accès à votre compte. Vous pouvez y supprimer l’accès.',
  'error.denied_before.title': 'Vous avez déjà répondu à cette demande',
  'error.denied_before.message':
    'Vous l’avez refusée, et rien n’a été partagé. Votre page des applications ({path}) ' +
    'indique quelles applications ont accès à votre compte. Vous pouvez y supprimer l’accès.',
  'error.answer_not_accepted.title': 'Cette réponse n’a pas été acceptée',
  'error.answer_not_accepted.message':
    'Elle ne provenait pas de la page qui posait la question, ou une autre personne s’est ' +
    'connectée entre-temps. Retournez à l’application et recommencez.',
  'error.not_signed_in.title': 'Vous n’êtes pas connecté',
  'error.not_signed_in.message':
    'Votre réponse n’a pas été acceptée. Retournez à l’application et recommencez.',
  'error.not_clear.title': 'Cette demande n’est pas claire',
  'error.not_clear.message':
    'Elle contient à la fois une demande et une réponse. Retournez à l’application et recommencez.',
  'error.sign_out_first.title': 'Déconnectez-vous d’abord de {server}',
  'error.sign_out_first.message':
    'Cette demande est terminée, et rien n’a été partagé. Déconnectez-vous dans un autre ' +
    'onglet. Continuez ensuite ici et connectez-vous avec votre propre compte.',
  'error.sign_out_first.link': 'Continuer en tant qu’une autre personne',
  'error.nothing_shared.title': 'Rien n’a été partagé',
  'error.nothing_shared.message':
    'L’application qui vous a amené ici n’a pas obtenu l’accès à votre compte. Elle a demandé ' +
    'à vous renvoyer vers {host}, que {server} n’a pas vérifié. N’y allez que si vous avez ' +
    'commencé sur ce site.',
  'error.nothing_shared.link': 'Retourner à {host}',
  'error.removal_not_accepted.title': 'La demande n’a pas été acceptée',
  'error.removal_not_accepted.message':
    'Elle ne provenait pas de votre page des applications, ou une autre personne s’est ' +
    'connectée entre-temps. Rien n’a été modifié. Ouvrez à nouveau la page.',
};
