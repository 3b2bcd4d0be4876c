import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'Iniciar sesión',
  'sign_in.again': 'Confirme que es usted',
  'sign_in.to': 'para continuar a {client}',
  'sign_in.to_unverified': 'para continuar a {client} ({server} no lo ha verificado)',
  'sign_in.identifier': 'Correo electrónico',
  'sign_in.password': 'Contraseña',
  'sign_in.show_password': 'Mostrar contraseña',
  'sign_in.hide_password': 'Ocultar contraseña',
  'sign_in.submit': 'Iniciar sesión',
  'sign_in.forgot_password': '¿Ha olvidado su contraseña?',
  'sign_in.terms': 'Condiciones de uso',
  'sign_in.wrong': 'El correo electrónico o la contraseña no son correctos.',
  'sign_in.stale':
    'Esta página ha estado abierta demasiado tiempo o en demasiadas pestañas. Vuelva a ' +
    'iniciar sesión.',
  'sign_in.slowed': {
    one:
      'Ha habido demasiados intentos fallidos de iniciar sesión. No se ha comprobado su ' +
      'contraseña: vuelva a intentarlo en un segundo.',
    other:
      'Ha habido demasiados intentos fallidos de iniciar sesión. No se ha comprobado su ' +
      'contraseña: vuelva a intentarlo en {count} segundos.',
  },
  'sign_in.overloaded':
    'Demasiadas personas están iniciando sesión en este momento. Vuelva a intentarlo en unos ' +
    'segundos.',

  'client.on_this_computer': 'un programa de este equipo',
  'client.on_this_device': 'una aplicación de este dispositivo',
  'client.not_verified': '{client} (sin verificar)',
  'person.unnamed': 'esta cuenta',
  'scope.openid.label': 'Confirmar su identidad',
  'scope.profile.label': 'Ver su perfil, por ejemplo su nombre',
  'scope.email.label': 'Ver su correo electrónico',
  'scopes.identity': 'Quién es usted',
  'scopes.read': 'Ver',
  'scopes.change': 'Cambiar',

  'consent.page': '¿Permitir el acceso de {client}?',
  'consent.title': '¿Permitir que {client} use su cuenta de {server}?',
  'consent.not_verified': 'Sin verificar por {server}.',
  'consent.anyone': 'Cualquiera puede crear una aplicación y elegir su nombre.',
  'consent.calls_itself': 'Nombre que declara la aplicación: {name}',
  'consent.called_like_server':
    'El nombre de la aplicación puede confundirse con {server}. No es {server}.',
  'consent.not_server': 'Esta aplicación no es {server}.',
  'consent.another_application': 'Es otra aplicación con un nombre parecido.',
  'consent.signed_in_as': 'Sesión iniciada como {person}',
  'consent.switch': '¿No es usted?',
  'consent.at_resource': 'Para usar con {resource}',
  'consent.scopes': 'La aplicación podrá:',
  'consent.new_scopes': 'Nuevo: la aplicación también podrá:',
  'consent.nothing_new': 'La aplicación no pide ningún acceso nuevo',
  'consent.granted_before': {
    other: 'Conserva lo que usted ya permitió ({count})',
  },
  'consent.leave_out': 'Desmarque lo que no quiera permitir.',
  'consent.addable': 'También puede permitir:',
  'consent.lasts':
    'El acceso dura hasta que usted lo quite o hasta que la aplicación no lo haya usado ' +
    'durante {time}.',
  'consent.lasts_once': 'El acceso dura {time} como máximo.',
  'consent.take_back': 'Puede quitarlo en cualquier momento:',
  'consent.new_tab': '(se abre en una pestaña nueva)',
  'consent.sent_to':
    'En ambos casos se le redirigirá a {host}. Permita el acceso solo a aplicaciones en las ' +
    'que confíe.',
  'consent.answer_to_site':
    'Si permite el acceso, se le redirigirá a {host}. Permítalo solo si empezó en ese sitio.',
  'consent.answer_to_other_site':
    'Si permite el acceso, se le redirigirá a {host}, que es un sitio distinto de {client}. ' +
    'Permítalo solo si empezó en {host}.',
  'consent.answer_to_device':
    'En ambos casos se le redirigirá a {host}. Permita el acceso solo si acaba de iniciarlo usted.',
  'consent.answer_to_device_of_site':
    'En ambos casos se le redirigirá a {host}. Otros programas también pueden hacerse pasar ' +
    'allí por {client}. Permita el acceso solo si acaba de iniciarlo usted.',
  'consent.deny': 'Denegar',
  'consent.allow': 'Permitir',

  'device.page': 'Conectar un dispositivo',
  'device.title': 'Conectar un dispositivo a su cuenta de {server}',
  'device.enter': 'Introduzca el código que muestra su dispositivo.',
  'device.compare':
    '¿Muestra su dispositivo este código ahora? Continúe solo si es así. Si alguien le envió ' +
    'el enlace, cierre esta página.',
  'device.code': 'Código del dispositivo',
  'device.continue': 'Continuar',
  'device.mistyped': 'Este código no es válido. Compruebe cada letra.',
  'device.unknown': 'Este código es desconocido o ha caducado. Empiece de nuevo en su dispositivo.',
  'device.slowed': 'Demasiados códigos incorrectos. Espere un momento y vuelva a intentarlo.',
  'device.only_yours': 'Continúe solo si empezó esto en su propio dispositivo.',
  'device.never_from_others':
    'Si alguien le envió el código o el enlace, elija «Denegar». Si lo permite, esa persona ' +
    'tendrá acceso a su cuenta.',
  'device.began': 'Se inició {when}, desde la dirección {address}.',
  'device.began_somewhere': 'Se inició {when}.',
  'device.shows': 'Su dispositivo debe mostrar el código {code}.',
  'device.allowed.title': 'Su dispositivo está conectado',
  'device.allowed.message': 'Vuelva a su dispositivo. Puede cerrar esta página.',
  'device.denied.title': 'Acceso denegado',
  'device.denied.message': 'El dispositivo no obtiene acceso. Puede cerrar esta página.',
  'device.nothing.title': 'No hay nada que permitir',
  'device.nothing.message': 'Su cuenta no tiene ninguno de los permisos que solicita {client}.',
  'logout.page': 'Cerrar sesión',
  'logout.title': '¿Cerrar sesión en {server}?',
  'logout.asked_by': '{client} le pide que cierre sesión.',
  'logout.confirm': 'Cerrar sesión',
  'logout.stay': 'Mantener la sesión',
  'logout.done.title': 'Ha cerrado sesión',
  'logout.done.message': 'Puede cerrar esta página.',
  'logout.stayed.title': 'Su sesión sigue abierta',
  'logout.stayed.message': 'No se ha cambiado nada. Puede cerrar esta página.',
  'logout.not_valid.title': 'No es posible cerrar sesión de esta forma',
  'logout.not_valid.message':
    'La aplicación envió una solicitud no válida. No se ha cambiado nada.',
  'response.title': 'Continuar a {host}',
  'response.message': 'Se le está enviando allí. Si no ocurre nada, pulse el botón.',
  'response.continue': 'Continuar',

  'applications.page': 'Aplicaciones con acceso',
  'applications.title': 'Aplicaciones con acceso a su cuenta',
  'applications.removed': 'Acceso quitado: esa aplicación ya no puede actuar en su nombre.',
  'applications.signed_in_as': 'Sesión iniciada como {person}.',
  'applications.none': 'Ninguna aplicación tiene acceso.',
  'applications.not_verified': 'Sin verificar por {server}.',
  'applications.calls_itself': 'Nombre que declara la aplicación: {name}',
  'applications.since': 'Desde el {date}',
  'applications.given_by': 'Su organización concedió este acceso ({issuer})',
  'applications.last_active': 'Última actividad: {date}',
  'applications.answered_at': 'Le redirige de vuelta a: {places}',
  'applications.can': { other: 'Lo que puede hacer ({count})' },
  'applications.nothing_now':
    'No puede hacer nada en este momento, porque usted no tiene ninguno de los permisos que pidió.',
  'applications.remove': 'Quitar acceso',
  'applications.remove_of': 'de {client}',
  'applications.removed_all':
    'Acceso quitado: ninguna de esas aplicaciones puede actuar ya en su nombre.',
  'applications.remove_all': 'Quitar todos',
  'applications.confirm_page': '¿Quitar todos los accesos?',
  'applications.confirm_title': '¿Quitar el acceso de todas las aplicaciones?',
  'applications.confirm_all': {
    one:
      'Si continúa, una aplicación dejará de poder actuar en su nombre. Tendrá que pedirle ' +
      'permiso de nuevo la próxima vez que la use.',
    other:
      'Si continúa, {count} aplicaciones dejarán de poder actuar en su nombre. Cada una ' +
      'tendrá que pedirle permiso de nuevo la próxima vez que la use.',
  },
  'applications.keep': 'Conservarlos',
  'applications.back': 'Volver a {server}',

  'error.back':
    'Si ha llegado aquí por un enlace, vuelva a la aplicación e inténtelo de nuevo. Si sigue ' +
    'ocurriendo, avise a quienes desarrollan esa aplicación.',
  'error.request_id': 'ID de la solicitud: {id}',
  'error.not_found.title': 'Página no encontrada',
  'error.not_found.message':
    'No hay ninguna página en esta dirección. Puede que la dirección no sea correcta o que la ' +
    'página se haya movido.',
  'error.too_large.title': 'La solicitud es demasiado grande',
  'error.too_large.message': 'Ha enviado más datos de los que admite este sitio.',
  'error.unavailable.title': 'Vuelva a intentarlo en un momento',
  'error.unavailable.message':
    'Este sitio no puede responder ahora. Espere un momento y vuelva a intentarlo.',
  'error.refused.title': 'Solicitud rechazada',
  'error.refused.message':
    'No se ha aceptado esta solicitud. Vuelva atrás, cargue de nuevo la página e inténtelo ' +
    'otra vez.',
  'error.failed.title': 'Se ha producido un error',
  'error.failed.message':
    'El error es nuestro y ha quedado registrado. Si vuelve a ocurrir, envíenos el ID de la ' +
    'solicitud que aparece abajo.',
  'error.fault.title': 'Se ha producido un error',
  'error.fault.message':
    'El error es nuestro y ha quedado registrado. Vuelva a la aplicación y empiece de nuevo.',
  'error.unknown_client.title': 'Aplicación desconocida',
  'error.unknown_client.message':
    'El enlace que le ha traído aquí corresponde a una aplicación que {server} no conoce.',
  'error.untaken_client.title': 'Aplicación desconocida',
  'error.untaken_client.message':
    'El enlace que le ha traído aquí corresponde a una aplicación que {server} no acepta.',
  'error.unread_client.title': 'Aplicación desconocida',
  'error.unread_client.message':
    'La aplicación que le ha traído aquí dice ser {host}, pero {server} no ha podido leer ' +
    'allí la descripción de la aplicación. No se ha compartido nada.',
  'error.client_against_rules.title': 'Esta aplicación no puede obtener acceso ahora',
  'error.client_against_rules.message':
    '{client} no cumple las reglas de {server} en este momento. No se ha compartido nada.',
  'error.unverified_client_against_rules.title': 'Esta aplicación no puede obtener acceso ahora',
  'error.unverified_client_against_rules.message':
    'La aplicación que le ha traído aquí no cumple las reglas de {server} en este momento. ' +
    'No se ha compartido nada.',
  'error.unregistered_address.title': 'Dirección de retorno no registrada',
  'error.unregistered_address.message':
    '{client} ha pedido que se le redirija de vuelta a una dirección que no está registrada ' +
    'para esa aplicación, así que no se le ha redirigido allí.',
  'error.unverified_unregistered_address.title': 'Dirección de retorno no registrada',
  'error.unverified_unregistered_address.message':
    'Una aplicación no verificada ha pedido que se le redirija de vuelta a una dirección que ' +
    'no está registrada para ella, así que no se le ha redirigido allí.',
  'error.link_used.title': 'Este enlace ya no se puede usar',
  'error.link_used.message':
    'Era válido durante poco tiempo y para una sola respuesta. Vuelva a la aplicación y ' +
    'empiece de nuevo.',
  'error.too_many_waiting.title': 'Hay demasiadas solicitudes en espera',
  'error.too_many_waiting.message':
    'Esta solicitud es larga y ahora no hay sitio para ella. Vuelva a la aplicación y ' +
    'empiece de nuevo dentro de un minuto, o inicie sesión aquí primero.',
  'error.not_answerable.title': 'Ya no se puede responder a esta solicitud',
  'error.not_answerable.message':
    'Ya se respondió, ha caducado o pertenece a otro navegador o a otra persona. No se ha ' +
    'aceptado su respuesta. Vuelva a la aplicación y empiece de nuevo.',
  'error.allowed_before.title': 'Ya ha respondido a esta solicitud',
  'error.allowed_before.message':
    'Usted la permitió. Su página de aplicaciones ({path}) muestra qué aplicaciones tienen ' +
    'acceso a su cuenta. Allí puede quitar el acceso.',
  'error.denied_before.title': 'Ya ha respondido a esta solicitud',
  'error.denied_before.message':
    'Usted la denegó y no se compartió nada. Su página de aplicaciones ({path}) muestra qué ' +
    'aplicaciones tienen acceso a su cuenta. Allí puede quitar el acceso.',
  'error.answer_not_accepted.title': 'No se ha aceptado esta respuesta',
  'error.answer_not_accepted.message':
    'No procedía de la página que preguntaba, o entretanto ha iniciado sesión otra persona. ' +
    'Vuelva a la aplicación y empiece de nuevo.',
  'error.not_signed_in.title': 'No ha iniciado sesión',
  'error.not_signed_in.message':
    'No se ha aceptado su respuesta. Vuelva a la aplicación y empiece de nuevo.',
  'error.not_clear.title': 'Esta solicitud no está clara',
  'error.not_clear.message':
    'Contiene a la vez una solicitud y una respuesta. Vuelva a la aplicación y empiece de nuevo.',
  'error.sign_out_first.title': 'Cierre primero la sesión de {server}',
  'error.sign_out_first.message':
    'Esta solicitud ha terminado y no se ha compartido nada. Cierre la sesión en otra ' +
    'pestaña. Después continúe aquí e inicie sesión con su propia cuenta.',
  'error.sign_out_first.link': 'Continuar como otra persona',
  'error.nothing_shared.title': 'No se ha compartido nada',
  'error.nothing_shared.message':
    'La aplicación que le ha traído aquí no ha obtenido acceso a su cuenta. Pidió que se le ' +
    'redirigiera de vuelta a {host}, que {server} no ha verificado. Vaya allí solo si empezó ' +
    'en ese sitio.',
  'error.nothing_shared.link': 'Volver a {host}',
  'error.removal_not_accepted.title': 'No se ha aceptado la solicitud',
  'error.removal_not_accepted.message':
    'No procedía de su página de aplicaciones, o entretanto ha iniciado sesión otra persona. ' +
    'No se ha cambiado nada. Abra la página de nuevo.',
};
