import type { CompleteCatalog } from '../english.ts';

/** Chinese in simplified characters. */
export const MESSAGES: CompleteCatalog = {
  'sign_in.title': '登录',
  'sign_in.to': '登录后将继续前往 {client}',
  'sign_in.to_unverified': '登录后将继续前往 {client}（未经 {server} 验证）',
  'sign_in.identifier': '电子邮箱',
  'sign_in.password': '密码',
  'sign_in.submit': '登录',
  'sign_in.wrong': '电子邮箱或密码不正确。',
  'sign_in.stale': '此页面打开的时间过长，或在过多标签页中打开。请重新登录。',
  'sign_in.slowed': {
    other: '登录失败次数过多，未检查您的密码。请在 {count} 秒后重试。',
  },
  'sign_in.overloaded': '当前登录的人数过多，请在几秒后重试。',

  'client.on_this_computer': '这台电脑上的程序',
  'client.on_this_device': '此设备上的应用',
  'client.not_verified': '{client}（未经验证）',
  'person.unnamed': '此账号',
  'scope.openid.label': '确认您的身份',
  'scope.profile.label': '查看您的个人资料，例如您的姓名',
  'scope.email.label': '查看您的电子邮箱地址',

  'consent.page': '允许 {client}？',
  'consent.title': '允许 {client} 使用您的 {server} 账号吗？',
  'consent.not_verified': '未经 {server} 验证。',
  'consent.anybody': '任何人都可以创建应用并自行取名。',
  'consent.calls_itself': '该应用自称：{name}',
  'consent.signed_in_as': '当前登录账号：{person}',
  'consent.switch': '不是您本人？',
  'consent.scopes': '该应用将可以：',
  'consent.new_scopes': '新增：该应用还将可以：',
  'consent.nothing_new': '除已获得的权限外，该应用没有请求其他权限',
  'consent.granted_before': {
    other: '该应用保留您之前允许的权限（{count} 项）',
  },
  'consent.sent_to': '无论允许与否，您都将前往 {host}。请仅允许您了解的应用。',
  'consent.answer_to_site': '如果您允许，结果将发送至 {host}。请仅在您来自该网站时允许。',
  'consent.answer_to_other_site':
    '如果您允许，结果将发送至 {host}，该网站与 {client} 不同。请仅在您来自该网站时允许。',
  'consent.answer_to_device': '无论允许与否，结果都将发送至{host}。请仅允许您本人刚刚发起的请求。',
  'consent.answer_to_device_of_site':
    '无论允许与否，结果都将发送至{host}。其他程序也可能在那里冒充 {client}。请仅允许您本人刚刚发起的请求。',
  'consent.deny': '拒绝',
  'consent.allow': '允许',

  'applications.page': '有访问权限的应用',
  'applications.title': '可以访问您账号的应用',
  'applications.removed': '已完成：该应用不能再代表您执行操作。',
  'applications.signed_in_as': '当前登录账号：{person}。',
  'applications.none': '没有任何应用拥有访问权限。',
  'applications.not_verified': '未经 {server} 验证。',
  'applications.calls_itself': '该应用自称：{name}',
  'applications.since': '自 {date}起，该应用可以',
  'applications.nothing_now': '目前没有：您不具备该应用所请求的任何权限',
  'applications.remove': '移除访问权限',
  'applications.remove_of': '（{client}）',
  'applications.back': '返回 {server}',

  'error.back':
    '如果您是通过链接来到这里的，请返回原来的应用并重试。如果每次都出现此问题，请告知该应用的提供者。',
  'error.request_id': '请求 ID：{id}',
  'error.not_found.title': '没有这个页面',
  'error.not_found.message': '此地址没有内容。可能是输入有误，或者页面已移动。',
  'error.too_large.title': '发送的内容过大',
  'error.too_large.message': '发送的内容超出了本网站可接受的大小。',
  'error.unavailable.title': '请稍后重试',
  'error.unavailable.message': '本网站目前无法响应。请稍等片刻，然后重复刚才的操作。',
  'error.refused.title': '请求已被拒绝',
  'error.refused.message': '无法这样操作。请返回上一页，重新加载后再试一次。',
  'error.failed.title': '出现问题',
  'error.failed.message': '这是我们的故障，已被记录。如果再次发生，请将下方的请求 ID 告诉我们。',
  'error.fault.title': '出现问题',
  'error.fault.message': '这是我们的故障，已被记录。请返回应用并重新开始。',
  'error.unknown_client.title': '未知应用',
  'error.unknown_client.message': '将您带到这里的链接所指的应用不为 {server} 所知。',
  'error.untaken_client.title': '未知应用',
  'error.untaken_client.message': '将您带到这里的链接所指的应用不被 {server} 接受。',
  'error.unread_client.title': '未知应用',
  'error.unread_client.message':
    '将您带到这里的一方自称是 {host}，但 {server} 未能在那里读取其信息。未共享任何信息。',
  'error.client_against_rules.title': '此应用目前无法获得访问权限',
  'error.client_against_rules.message': '{client} 目前不符合 {server} 对它的规则要求。未共享任何信息。',
  'error.unverified_client_against_rules.title': '此应用目前无法获得访问权限',
  'error.unverified_client_against_rules.message':
    '将您带到这里的应用目前不符合 {server} 对它的规则要求。未共享任何信息。',
  'error.unregistered_address.title': '返回地址未注册',
  'error.unregistered_address.message': '{client} 要求将结果发送到未注册的地址，因此不会将您带往该处。',
  'error.unverified_unregistered_address.title': '返回地址未注册',
  'error.unverified_unregistered_address.message':
    '一个无人验证过的应用要求将结果发送到未注册的地址，因此不会将您带往该处。',
  'error.link_used.title': '此链接已不能使用',
  'error.link_used.message': '它仅在短时间内有效，且只能用于一次答复。请返回应用并重新开始。',
  'error.too_many_waiting.title': '等待中的请求过多',
  'error.too_many_waiting.message':
    '此请求较长，目前没有空间存放。请在一分钟后返回应用重新开始，或先在此登录。',
  'error.not_answerable.title': '此请求已无法答复',
  'error.not_answerable.message':
    '它可能已被答复、已超时，或属于其他浏览器或其他人。本次未接受任何答复。请返回应用并重新开始。',
  'error.allowed_before.title': '您已答复过此请求',
  'error.allowed_before.message':
    '您已允许。您可以在应用页面（{path}）查看哪些应用可以访问您的账号，并撤销其访问权限。',
  'error.denied_before.title': '您已答复过此请求',
  'error.denied_before.message':
    '您已拒绝，未共享任何信息。您可以在应用页面（{path}）查看哪些应用可以访问您的账号，并撤销其访问权限。',
  'error.answer_not_accepted.title': '此答复未被接受',
  'error.answer_not_accepted.message':
    '它不是来自询问的页面，或者之后有其他人登录。本次未接受任何答复。请返回应用并重新开始。',
  'error.not_signed_in.title': '您尚未登录',
  'error.not_signed_in.message': '答复未被接受。请返回应用并重新开始。',
  'error.not_clear.title': '此请求不明确',
  'error.not_clear.message': '它同时是询问和答复。请返回应用并重新开始。',
  'error.sign_out_first.title': '请先退出 {server}',
  'error.sign_out_first.message':
    '该请求已结束，未共享任何信息。请在另一个标签页中退出登录，然后在此继续，并用您自己的账号登录。',
  'error.sign_out_first.link': '以其他身份继续',
  'error.nothing_shared.title': '未共享任何信息',
  'error.nothing_shared.message':
    '将您带到这里的应用未获得您账号的访问权限。它要求将结果发送至 {host}，而 {server} 未验证该网站：请仅在您来自那里时前往。',
  'error.nothing_shared.link': '返回 {host}',
  'error.removal_not_accepted.title': '操作未被接受',
  'error.removal_not_accepted.message':
    '它不是来自您的应用页面，或者之后有其他人登录。未作任何更改。请重新打开页面。',
};
