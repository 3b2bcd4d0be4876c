import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'Entrar',
  'sign_in.again': 'Confirme que é você',
  'sign_in.to': 'para continuar em: {client}',
  'sign_in.to_unverified': 'para continuar em: {client} (não verificado por {server})',
  'sign_in.identifier': 'Endereço de e-mail',
  'sign_in.password': 'Senha',
  'sign_in.show_password': 'Mostrar senha',
  'sign_in.hide_password': 'Ocultar senha',
  'sign_in.submit': 'Entrar',
  'sign_in.forgot_password': 'Esqueceu sua senha?',
  'sign_in.terms': 'Termos de uso',
  'sign_in.wrong': 'O endereço de e-mail ou a senha está incorreto.',
  'sign_in.stale': 'Esta página ficou aberta por tempo demais ou em guias demais. Entre novamente.',
  'sign_in.slowed': {
    one:
      'Houve tentativas de login malsucedidas demais. Sua senha não foi verificada: tente ' +
      'novamente em {count} segundo.',
    other:
      'Houve tentativas de login malsucedidas demais. Sua senha não foi verificada: tente ' +
      'novamente em {count} segundos.',
  },
  'sign_in.overloaded':
    'Há pessoas demais entrando neste momento. Tente novamente em alguns segundos.',

  'client.on_this_computer': 'um programa neste computador',
  'client.on_this_device': 'um aplicativo neste dispositivo',
  'client.not_verified': '{client} (não verificado)',
  'person.unnamed': 'esta conta',
  'scope.openid.label': 'Confirmar quem você é',
  'scope.profile.label': 'Ver seu perfil, como o seu nome',
  'scope.email.label': 'Ver seu endereço de e-mail',
  'scopes.identity': 'Quem você é',
  'scopes.read': 'Ver',
  'scopes.change': 'Alterar',

  'consent.page': 'Permitir {client}?',
  'consent.title': 'Permitir que {client} use sua conta {server}?',
  'consent.not_verified': 'Não verificado por {server}.',
  'consent.anyone': 'Qualquer pessoa pode criar um aplicativo e escolher o nome dele.',
  'consent.calls_itself': 'O nome que ele dá a si mesmo: {name}',
  'consent.called_like_server': 'O nome dele pode ser confundido com {server}. Ele não é {server}.',
  'consent.not_server': 'Este aplicativo não é {server}.',
  'consent.another_application': 'É outro aplicativo com um nome parecido.',
  'consent.signed_in_as': 'Você entrou como {person}',
  'consent.switch': 'Não é você?',
  'consent.at_resource': 'Para uso com {resource}',
  'consent.scopes': 'O aplicativo poderá:',
  'consent.new_scopes': 'Novo: o aplicativo também poderá:',
  'consent.nothing_new': 'O aplicativo não pede nenhum acesso novo',
  'consent.granted_before': {
    other: 'Ele mantém o que você já permitiu ({count})',
  },
  'consent.leave_out': 'Desmarque o que você não quer permitir.',
  'consent.addable': 'Você também pode permitir:',
  'consent.lasts': 'O acesso dura até você removê-lo ou até o aplicativo ficar {time} sem usá-lo.',
  'consent.lasts_once': 'O acesso dura {time}, no máximo.',
  'consent.take_back': 'Você pode remover o acesso a qualquer momento:',
  'consent.new_tab': '(abre em uma nova guia)',
  'consent.sent_to':
    'Nos dois casos, você será redirecionado para {host}. Permita somente aplicativos em que ' +
    'você confia.',
  'consent.answer_to_site':
    'Se você permitir o acesso, será redirecionado para {host}. Permita somente se você ' +
    'começou nesse site.',
  'consent.answer_to_other_site':
    'Se você permitir o acesso, será redirecionado para {host}, que é um site diferente de ' +
    '{client}. Permita somente se você começou em {host}.',
  'consent.answer_to_device':
    'Nos dois casos, você será redirecionado para {host}. Permita o acesso somente se foi você ' +
    'que acabou de iniciar isto.',
  'consent.answer_to_device_of_site':
    'Nos dois casos, você será redirecionado para {host}. Outros programas também podem se ' +
    'passar por {client} ali. Permita o acesso somente se foi você que acabou de iniciar isto.',
  'consent.deny': 'Negar',
  'consent.allow': 'Permitir',

  'device.page': 'Conectar um dispositivo',
  'device.title': 'Conectar um dispositivo à sua conta de {server}',
  'device.enter': 'Digite o código que o seu dispositivo mostra.',
  'device.compare':
    'O seu dispositivo mostra este código agora? Continue somente se mostrar. Se alguém ' +
    'enviou o link para você, feche esta página.',
  'device.code': 'Código do dispositivo',
  'device.continue': 'Continuar',
  'device.mistyped': 'Este código não é válido. Verifique cada letra.',
  'device.unknown': 'Este código é desconhecido ou expirou. Comece de novo no seu dispositivo.',
  'device.slowed': 'Muitos códigos errados. Aguarde um momento e tente novamente.',
  'device.only_yours': 'Continue somente se você começou isto no seu próprio dispositivo.',
  'device.never_from_others':
    'Se alguém enviou o código ou o link para você, escolha “Negar”. Se você permitir, essa ' +
    'pessoa terá acesso à sua conta.',
  'device.began': 'Iniciado {when}, a partir do endereço {address}.',
  'device.began_somewhere': 'Iniciado {when}.',
  'device.shows': 'O seu dispositivo deve mostrar o código {code}.',
  'device.allowed.title': 'O seu dispositivo está conectado',
  'device.allowed.message': 'Volte ao seu dispositivo. Você pode fechar esta página.',
  'device.denied.title': 'Acesso negado',
  'device.denied.message': 'O dispositivo não recebe acesso. Você pode fechar esta página.',
  'device.nothing.title': 'Não há nada para permitir',
  'device.nothing.message': 'A sua conta não tem nenhuma das permissões que {client} solicita.',
  'logout.page': 'Sair',
  'logout.title': 'Sair de {server}?',
  'logout.asked_by': '{client} pede que você saia.',
  'logout.confirm': 'Sair',
  'logout.stay': 'Continuar conectado',
  'logout.done.title': 'Você saiu',
  'logout.done.message': 'Você pode fechar esta página.',
  'logout.stayed.title': 'Você continua conectado',
  'logout.stayed.message': 'Nada foi alterado. Você pode fechar esta página.',
  'logout.not_valid.title': 'Não é possível sair desta forma',
  'logout.not_valid.message': 'O aplicativo enviou uma solicitação inválida. Nada foi alterado.',
  'response.title': 'Continuar para {host}',
  'response.message': 'Você está sendo enviado para lá. Se nada acontecer, pressione o botão.',
  'response.continue': 'Continuar',

  'applications.page': 'Aplicativos com acesso',
  'applications.title': 'Aplicativos com acesso à sua conta',
  'applications.removed': 'Acesso removido: esse aplicativo não pode mais agir em seu nome.',
  'applications.signed_in_as': 'Você entrou como {person}.',
  'applications.none': 'Nenhum aplicativo tem acesso.',
  'applications.not_verified': 'Não verificado por {server}.',
  'applications.calls_itself': 'O nome que ele dá a si mesmo: {name}',
  'applications.since': 'Desde {date}',
  'applications.given_by': 'Sua organização concedeu este acesso ({issuer})',
  'applications.last_active': 'Última atividade: {date}',
  'applications.answered_at': 'Redireciona você de volta para: {places}',
  'applications.can': { other: 'O que ele pode fazer ({count})' },
  'applications.nothing_now':
    'Ele não pode fazer nada neste momento, porque você não tem nenhuma das permissões que ' +
    'ele pediu.',
  'applications.remove': 'Remover acesso',
  'applications.remove_of': 'de {client}',
  'applications.removed_all':
    'Acesso removido: nenhum desses aplicativos pode mais agir em seu nome.',
  'applications.remove_all': 'Remover todos',
  'applications.confirm_page': 'Remover todos os acessos?',
  'applications.confirm_title': 'Remover o acesso de todos os aplicativos?',
  'applications.confirm_all': {
    one:
      'Se você continuar, um aplicativo não poderá mais agir em seu nome. Ele terá de pedir ' +
      'permissão de novo na próxima vez que você o usar.',
    other:
      'Se você continuar, {count} aplicativos não poderão mais agir em seu nome. Cada um ' +
      'terá de pedir permissão de novo na próxima vez que você o usar.',
  },
  'applications.keep': 'Manter',
  'applications.back': 'Voltar para {server}',

  'error.back':
    'Se você chegou aqui por um link, volte ao aplicativo e tente novamente. Se isso continuar ' +
    'acontecendo, avise quem desenvolve esse aplicativo.',
  'error.request_id': 'ID da solicitação: {id}',
  'error.not_found.title': 'Página não encontrada',
  'error.not_found.message':
    'Não há nenhuma página neste endereço. Talvez o endereço esteja errado ou a página tenha ' +
    'mudado de lugar.',
  'error.too_large.title': 'A solicitação é grande demais',
  'error.too_large.message': 'Você enviou mais dados do que este site aceita.',
  'error.unavailable.title': 'Tente novamente daqui a pouco',
  'error.unavailable.message':
    'Este site não pode responder agora. Espere um pouco e tente novamente.',
  'error.refused.title': 'Solicitação recusada',
  'error.refused.message':
    'Esta solicitação não foi aceita. Volte, recarregue a página e tente novamente.',
  'error.failed.title': 'Algo deu errado',
  'error.failed.message':
    'A falha é nossa e foi registrada. Se acontecer de novo, envie para nós o ID da ' +
    'solicitação abaixo.',
  'error.fault.title': 'Algo deu errado',
  'error.fault.message':
    'A falha é nossa e foi registrada. Volte ao aplicativo e comece novamente.',
  'error.unknown_client.title': 'Aplicativo desconhecido',
  'error.unknown_client.message':
    'O link que trouxe você até aqui é de um aplicativo que {server} não conhece.',
  'error.untaken_client.title': 'Aplicativo desconhecido',
  'error.untaken_client.message':
    'O link que trouxe você até aqui é de um aplicativo que {server} não aceita.',
  'error.unread_client.title': 'Aplicativo desconhecido',
  'error.unread_client.message':
    'O aplicativo que trouxe você até aqui diz ser {host}, mas {server} não conseguiu ler a ' +
    'descrição dele ali. Nada foi compartilhado.',
  'error.client_against_rules.title': 'Este aplicativo não pode receber acesso agora',
  'error.client_against_rules.message':
    '{client} não cumpre as regras de {server} neste momento. Nada foi compartilhado.',
  'error.unverified_client_against_rules.title': 'Este aplicativo não pode receber acesso agora',
  'error.unverified_client_against_rules.message':
    'O aplicativo que trouxe você até aqui não cumpre as regras de {server} neste momento. ' +
    'Nada foi compartilhado.',
  'error.unregistered_address.title': 'Endereço de retorno não registrado',
  'error.unregistered_address.message':
    '{client} pediu para redirecionar você de volta para um endereço que não está registrado ' +
    'para esse aplicativo. Por isso, você não foi redirecionado para lá.',
  'error.unverified_unregistered_address.title': 'Endereço de retorno não registrado',
  'error.unverified_unregistered_address.message':
    'Um aplicativo não verificado pediu para redirecionar você de volta para um endereço que ' +
    'não está registrado para ele. Por isso, você não foi redirecionado para lá.',
  'error.link_used.title': 'Este link não pode mais ser usado',
  'error.link_used.message':
    'Ele valia por pouco tempo e para uma única resposta. Volte ao aplicativo e comece novamente.',
  'error.too_many_waiting.title': 'Há solicitações demais esperando',
  'error.too_many_waiting.message':
    'Esta solicitação é longa, e agora não há espaço para ela. Volte ao aplicativo e comece ' +
    'novamente em um minuto, ou entre aqui primeiro.',
  'error.not_answerable.title': 'Esta solicitação não pode mais ser respondida',
  'error.not_answerable.message':
    'Ela já foi respondida, expirou ou pertence a outro navegador ou a outra pessoa. Sua ' +
    'resposta não foi aceita. Volte ao aplicativo e comece novamente.',
  'error.allowed_before.title': 'Você já respondeu a esta solicitação',
  'error.allowed_before.message':
    'Você permitiu. Sua página de aplicativos ({path}) mostra quais aplicativos têm acesso à ' +
    'sua conta. Ali você pode remover o acesso.',
  'error.denied_before.title': 'Você já respondeu a esta solicitação',
  'error.denied_before.message':
    'Você negou, e nada foi compartilhado. Sua página de aplicativos ({path}) mostra quais ' +
    'aplicativos têm acesso à sua conta. Ali você pode remover o acesso.',
  'error.answer_not_accepted.title': 'Esta resposta não foi aceita',
  'error.answer_not_accepted.message':
    'Ela não veio da página que fez a pergunta, ou outra pessoa entrou desde então. Volte ao ' +
    'aplicativo e comece novamente.',
  'error.not_signed_in.title': 'Você não entrou na sua conta',
  'error.not_signed_in.message':
    'Sua resposta não foi aceita. Volte ao aplicativo e comece novamente.',
  'error.not_clear.title': 'Esta solicitação não está clara',
  'error.not_clear.message':
    'Ela contém uma solicitação e uma resposta ao mesmo tempo. Volte ao aplicativo e comece ' +
    'novamente.',
  'error.sign_out_first.title': 'Saia primeiro de {server}',
  'error.sign_out_first.message':
    'Esta solicitação terminou, e nada foi compartilhado. Saia da conta em outra guia. ' +
    'Depois continue aqui e entre com a sua própria conta.',
  'error.sign_out_first.link': 'Continuar como outra pessoa',
  'error.nothing_shared.title': 'Nada foi compartilhado',
  'error.nothing_shared.message':
    'O aplicativo que trouxe você até aqui não recebeu acesso à sua conta. Ele pediu para ' +
    'redirecionar você de volta para {host}, que {server} não verificou. Vá para lá somente se ' +
    'você começou nesse site.',
  'error.nothing_shared.link': 'Voltar para {host}',
  'error.removal_not_accepted.title': 'A solicitação não foi aceita',
  'error.removal_not_accepted.message':
    'Ela não veio da sua página de aplicativos, ou outra pessoa entrou desde então. Nada foi ' +
    'alterado. Abra a página novamente.',
};
